# frozen_string_literal: true

# What RUBYOPT names. A library that this system's Ruby cannot load (another libc, an older one, a folder
# mounted so that nothing can be executed from it) must not keep the app from starting.
begin
  require File.join(__dir__, "hakaru_agent.so")
rescue LoadError => e
  begin
    path = File.join(ENV.fetch("HAKARU_RING_DIR"), "#{Process.pid}.agent")
    File.write(path, "loaded: #{RUBY_DESCRIPTION}\ntrouble: the agent does not load: #{e.message.lines.first}\n",
               mode: "a", perm: 0o600)
  rescue SystemCallError, KeyError
    # Nobody asked for the agent, or there is nowhere to say it.
  end
end
