# frozen_string_literal: true

# The Ruby half of the sampler: forks, the end of the process, and exact counts of one method's calls.
module HakaruAgent
  # A child has no sampler's thread until it is told.
  module ProfileFork
    def _fork
      pid = super
      Profile.forked if pid.zero?
      pid
    end

    def daemon(...)
      result = super
      Profile.forked
      result
    end
  end

  # Start and end in this process.
  module Profile
    class << self
      def forked
        Native.profile_forked
        Counted.reset
      end

      # Registered before the app's own, so it runs after them.
      def at_the_end
        HakaruAgent.quietly do
          Counted.tell
          HakaruAgent.tell_compiler
          Native.profile_stop
        end
      end
    end
  end

  # Counts the calls of one method: `Class#method`, or `Class.method` for a method of the class itself.
  #
  # Arguments are told apart by their `hash`, with the receiver's for methods of objects, so nothing is kept
  # alive. Objects without a value of their own are equal only to themselves.
  module Counted
    @calls = {}
    @seen = {}
    @missed = 0
    @lock = Mutex.new

    class << self
      def watch(text)
        @name, @separator, @method = text.rpartition(/[#.]/)
        @method = @method.to_sym
        @target = nil
        Module.prepend(ConstCounted)
        found
      end

      # Looks whether the class is there by now.
      def found
        return if @target || !@method || !(owner = HakaruAgent.loaded(@name))

        @target = owner
        place = @separator == "." ? owner.singleton_class : owner
        known = place.method_defined?(@method) || place.private_method_defined?(@method)
        known ? count(place) : place.singleton_class.prepend(AddedWatch)
      end

      # The method has just been defined in `place`.
      def added(place, name)
        target = @separator == "." ? @target&.singleton_class : @target
        count(place) if name == @method && place.equal?(target) && !@counting
      end

      def count(place)
        @counting = true
        method = @method
        with_receiver = @separator == "#"
        hidden = place.private_method_defined?(method)
        place.prepend(Module.new do
          class_eval(<<~RUBY, "hakaru_agent.rb", 1)
            def #{method}(*arguments, &block)
              ::HakaruAgent::Counted.called(#{with_receiver ? "self" : "nil"}, arguments)
              super
            end
            ruby2_keywords(:#{method})
          RUBY
          private(method) if hidden
        end)
      end

      def called(receiver, arguments)
        key = [receiver, arguments].hash
        place = caller_locations(2, 1)&.first
        line = place ? "#{place.path}:#{place.lineno} in #{place.label}" : "(outside of Ruby)"
        @lock.synchronize { add(line, key) }
      rescue StandardError
        # In a trap handler no lock can be had; an app's own `hash` may raise.
        @missed += 1
      end

      def add(line, key)
        entry = (@calls[line] ||= [0, 0])
        entry[0] += 1
        @seen.key?(key) ? entry[1] += 1 : @seen[key] = true
      end

      def reset
        @calls = {}
        @seen = {}
        @missed = 0
        @lock = Mutex.new
      end

      def tell
        return unless @method

        @calls.each { |line, (calls, repeats)| send_line("#{line}\t#{calls}\t#{repeats}") }
        send_line("\t#{@missed}\t0") if @missed.positive?
        reset
      end

      def send_line(text)
        Native.profile_counted(text, text.bytesize)
      end
    end
  end

  # Sees classes appear.
  module ConstCounted
    private

    def const_added(name)
      super
      HakaruAgent.quietly { Counted.found }
    end
  end

  # Sees the method appear.
  module AddedWatch
    private

    def method_added(name)
      super
      HakaruAgent.quietly { Counted.added(self, name) }
    end
  end

  Process.singleton_class.prepend(ProfileFork)
  at_exit { Profile.at_the_end }
  Counted.watch(ENV["HAKARU_PROFILE_COUNT"]) if ENV["HAKARU_PROFILE_COUNT"]
end
