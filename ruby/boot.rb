# frozen_string_literal: true

# What RUBYOPT names. A library that this system's Ruby cannot load (another libc, an older one, a folder
# mounted so that nothing can be executed from it) must not keep the app from starting. An app with an agent of its
# own that Hakaru starts gets that of the run, which is named first.
begin
  require File.join(__dir__, "hakaru_agent.so") unless defined?(HakaruAgent)
rescue LoadError => e
  begin
    folder = ENV.fetch("HAKARU_RING_DIR")
    path = File.join(folder, "#{Process.pid}.agent")
    text = "loaded: #{RUBY_DESCRIPTION}\ntrouble no-load: the agent does not load: #{e.message.lines.first}\n"
    # A folder of that name may be another user's by now, with links in it.
    flags = File::WRONLY | File::APPEND | File::CREAT | File::NOFOLLOW | File::NONBLOCK
    File.open(path, flags, 0o600) { |file| file.write(text) } if File.owned?(folder)
  rescue SystemCallError, KeyError
    # Nobody asked for the agent, or there is nowhere to say it.
  end
end
