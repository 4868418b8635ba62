# Fibers, a request through routes as Sinatra and Rack have them, and a resolver of names as a server has one.
def fibers(count, turns)
  all = Array.new(count) do |number|
    Fiber.new do
      turns.times { |turn| Fiber.yield(number * turn) }
      nil
    end
  end
  sum = 0
  until all.empty?
    all.select! do |fiber|
      given = fiber.resume
      sum += given if given
      given
    end
  end
  sum
end

# Routes with named parts, filters around them, and an answer of status, headers and body.
class Application
  class << self
    def routes
      @routes ||= []
    end

    def get(path, &block)
      pattern = Regexp.new("\\A#{path.gsub(/:(\w+)/, '(?<\1>[^/]+)')}\\z")
      routes << [pattern, block]
    end
  end

  get('/') { 'home' }
  get('/users/:id') { |parameters| "user #{parameters['id']}" }
  get('/users/:id/posts/:post') { |parameters| parameters.values.join('/') }
  40.times { |number| get("/page#{number}") { "page #{number}" } }

  def call(env)
    self.class.routes.each do |pattern, block|
      found = pattern.match(env['PATH_INFO']) or next
      body = instance_exec(found.named_captures, &block)
      return [200, { 'content-type' => 'text/html', 'content-length' => body.bytesize.to_s }, [body]]
    end
    [404, {}, ['not found']]
  end
end

# Adds a header, as a layer of Rack does.
class Layer
  def initialize(below, name)
    @below = below
    @name = name
  end

  def call(env)
    status, headers, body = @below.call(env)
    [status, headers.merge("x-#{@name}" => '1'), body]
  end
end

STACK = %w[one two three four].inject(Application.new) { |below, name| Layer.new(below, name) }
PATHS = ['/', '/users/42', '/users/7/posts/9', '/page39', '/nothing'].freeze

def requests(times)
  times.times.sum do |number|
    status, headers, body = STACK.call('REQUEST_METHOD' => 'GET', 'PATH_INFO' => PATHS[number % PATHS.size])
    status + headers.size + body.first.bytesize
  end
end

# Names with aliases and wildcards, and answers that are kept for some questions.
class Resolver
  def initialize(count)
    @records = { 'example.' => '10.0.0.1' }
    count.times { |number| @records["host#{number}.example."] = "10.0.#{number / 256}.#{number % 256}" }
    count.times { |number| @records["alias#{number}.example."] = "host#{number}.example." }
    @records['*.wild.example.'] = '10.9.9.9'
    @kept = {}
  end

  def resolve(name, depth = 0)
    return if depth > 8

    @kept.clear if @kept.size > 64
    @kept[name] ||= begin
      found = @records[name] || @records["*.#{name.split('.', 2).last}"]
      found&.end_with?('.') ? resolve(found, depth + 1) : found
    end
  end
end

RESOLVER = Resolver.new(500)

def resolutions(times)
  times.times.sum do |number|
    name = case number % 3
           when 0 then "alias#{number % 500}.example."
           when 1 then "a#{number}.wild.example."
           else "none#{number}.example."
           end
    RESOLVER.resolve(name).to_s.bytesize
  end
end
