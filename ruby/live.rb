# frozen_string_literal: true

module HakaruAgent
  # Changes the threads of a running Puma, so that who measures several numbers of them needs no boot for each.
  #
  # Each process that serves requests listens at a FIFO, `PID.live`, for lines with a number of threads. The number that
  # holds then is in the file `PID.threads`.
  module Live
    FOLDER = ENV.fetch("HAKARU_RING_DIR")
    # A thread that is to end finishes its request first.
    PATIENCE = 5

    class << self
      # At the first request of a process.
      def listen
        return unless defined?(::Puma::Server)

        path = File.join(FOLDER, "#{Process.pid}.live")
        File.mkfifo(path, 0o600)
        # For both ends, so that it is open without a writer, and stays so when one leaves.
        orders = File.open(path, "r+")
        Thread.new do
          Thread.current.name = "hakaru live"
          while (line = orders.gets)
            HakaruAgent.quietly { tell(bring_to(Integer(line))) }
          end
        end
      end

      private

      # Answers the number of threads there are then.
      def bring_to(threads)
        server = ObjectSpace.each_object(::Puma::Server).find { |one| pool_of(one) }
        pool = pool_of(server)
        if server.respond_to?(:update_thread_pool_min_max)
          # Both are given: Puma 8.0 has them in the wrong order where one is left out.
          server.update_thread_pool_min_max(min: threads, max: threads)
        else
          limit(server, threads)
        end
        resize(pool, threads)
        deadline = now + PATIENCE
        sleep(0.005) until pool.spawned == threads || now > deadline
        pool.spawned
      end

      # Puma 5 to 7 have no method for that, and what Puma 8 has sets the limits alone: threads
      # would come with the next requests that wait for one, and go with its reaper.
      def resize(pool, threads)
        pool.with_mutex do
          { min: threads, max: threads, trim_requested: 0 }.each do |name, number|
            pool.instance_variable_set(:"@#{name}", number)
          end
          (threads - pool.spawned).times { pool.send(:spawn_thread) }
          pool.trim(true) while pool.spawned - pool.trim_requested > threads
        end
      end

      # Puma 5 and 6 end a connection that had its share only when as many threads are busy as the server knows of: else other
      # connections would wait for as long as this one has requests.
      def limit(server, threads)
        server.instance_variable_set(:@min_threads, threads)
        server.instance_variable_set(:@max_threads, threads)
      end

      def pool_of(server) = server.instance_variable_get(:@thread_pool)

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      # Renamed into its place, so that nobody reads half of it.
      def tell(threads)
        path = File.join(FOLDER, "#{Process.pid}.threads")
        File.write("#{path}.new", threads.to_s, perm: 0o600)
        File.rename("#{path}.new", path)
      end
    end
  end
end
