# frozen_string_literal: true

require "net/http"
require "rbconfig"
require "socket"
require "tmpdir"

# The real app, on small data, in a process of its own. `DATABASE_URL` is used when given
# (the database must exist and is filled anew); otherwise a SQLite file in a temporary folder.
class RunningChat
  ROOT = File.expand_path("..", __dir__)
  READY_WITHIN_S = 30

  attr_reader :port

  def initialize
    @folder = Dir.mktmpdir("chat")
    @env = { "CHAT_DB" => File.join(@folder, "chat.db"), "CHAT_SMALL" => "1", "RACK_ENV" => "production" }
    @port = free_port
  end

  def start
    seed
    log = File.join(@folder, "puma.log")
    @pid = spawn(@env, "puma", "-t", "5:5", "-b", "tcp://127.0.0.1:#{@port}", "config.ru",
                 chdir: ROOT, %i[out err] => log)
    wait_until_ready(log)
    self
  end

  def seed(*arguments)
    system(@env, RbConfig.ruby, "seed.rb", *arguments, chdir: ROOT) || raise("seed.rb #{arguments.join(' ')} failed")
  end

  # What the app said so far.
  def log = File.read(File.join(@folder, "puma.log"))

  def stop
    if @pid
      Process.kill("TERM", @pid)
      Process.wait(@pid)
    end
    FileUtils.rm_rf(@folder)
  end

  private

  def free_port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }

  def wait_until_ready(log)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + READY_WITHIN_S
    loop do
      TCPSocket.open("127.0.0.1", @port).close
      return
    rescue Errno::ECONNREFUSED
      late = Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      raise "the chat did not start: #{File.read(log)}" if late || Process.wait(@pid, Process::WNOHANG)

      IO.select(nil, nil, nil, 0.05)
    end
  end
end

# One user's browser: keeps cookies, follows no redirect.
class Browser
  BOUNDARY = "a-boundary-that-occurs-in-no-picture"

  def initialize(port)
    @port = port
    @cookies = {}
  end

  def get(path, query = {}) = send_request(Net::HTTP::Get.new(query.empty? ? path : "#{path}?#{URI.encode_www_form(query)}"))

  def post(path, form)
    request = Net::HTTP::Post.new(path)
    request.set_form_data(form)
    send_request(request)
  end

  # `files` holds [field, file name, bytes].
  def upload(path, form, files)
    request = Net::HTTP::Post.new(path)
    fields = form.map { |name, value| [name.to_s, value] }
    fields += files.map { |field, name, bytes| [field.to_s, StringIO.new(bytes), { filename: name }] }
    request.set_form(fields, "multipart/form-data", boundary: BOUNDARY)
    send_request(request)
  end

  private

  def send_request(request)
    request["Cookie"] = @cookies.map { |name, value| "#{name}=#{value}" }.join("; ") unless @cookies.empty?
    answer = Net::HTTP.start("127.0.0.1", @port) { |http| http.request(request) }
    answer.get_fields("Set-Cookie").to_a.each do |line|
      name, value = line.split(";").first.split("=", 2)
      @cookies[name] = value
    end
    answer
  end
end
