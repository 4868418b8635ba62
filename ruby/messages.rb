
# Messages of WebSockets as requests, and what an app itself calls a request.
#
# After `rack.hijack` a server knows no requests any more: each message is one, named by the path of the connection
# and the kind of the message. websocket-driver is known, and so is faye-websocket, which is built on it. An app with
# a loop of its own says it itself:
#
#   defined?(HakaruAgent) ? HakaruAgent.request("GET /:room buy") { handle(message) } : handle(message)
module HakaruAgent
  FIRST = 3
  ROUTE_BYTES_MAX = 200
  UNNAMED = "(unnamed)".b.freeze

  class << self
    # Runs the block as a request of that route, a string or what gives one when called. Within a request it only
    # runs the block.
    def request(route)
      return yield unless message_begins

      failed = false
      begin
        yield
      rescue Exception # rubocop:disable Lint/RescueException
        failed = true
        raise
      ensure
        message_ends(route, failed)
      end
    end

    private

    def message_begins
      state = Native.message_begin
      if state == FIRST
        arm(nil)
        state = Native.message_begin
      end
      state == STARTED
    end

    def message_ends(route, failed)
      name = quietly { Proc === route ? route.call : route }
      name = String === name ? name.byteslice(0, ROUTE_BYTES_MAX).b : UNNAMED
      due = Native.message_end(name, name.bytesize, failed ? 0 : 200)
      tell_counters if due == STARTED
    end
  end

  # Stands in front of the listeners of a connection of websocket-driver.
  module DriverMessages
    def emit(event, *arguments)
      return super unless event == :message && Messages.of_a_client?(@socket)

      HakaruAgent.request(-> { Messages.name(@socket.env, arguments[0].data) }) { super }
    end
  end

  # Names of messages.
  module Messages
    # Where JSON usually says what a message is.
    KIND = /"(?:action|type|command|event|op|method)"\s*:\s*"([^"\\]{1,40})"/n
    # So far into a message.
    LOOKED_AT_BYTES = 1024
    # More names in a process are one.
    NAMES_MAX = 200
    NUMBER = %r{/\d+(?=/|\z)}n

    @names = {}

    class << self
      # A message that this process gets as a client itself is part of something else. ActionCable only hands over
      # to threads of its own here.
      def of_a_client?(socket)
        socket.respond_to?(:env) && !socket.class.name.to_s.start_with?("ActionCable")
      end

      def name(env, data)
        kind = String === data ? data.byteslice(0, LOOKED_AT_BYTES).b[KIND, 1] || "text" : "binary"
        name = "GET #{env["PATH_INFO"].to_s.b.gsub(NUMBER, "/:id")} #{kind}"
        return name if @names.key?(name)
        return "(other messages)" if @names.size >= NAMES_MAX

        @names[name] = true
        name
      end
    end
  end
end
