# frozen_string_literal: true

# The Ruby half of the agent: it finds the places where a request or a call starts and ends, and tells
# the native half. It must not raise into the app, change an answer, or be seen by it.
#
# Nothing is prepended to a driver before the process handles its first request. By then other gems have
# usually made their alias chains, and ours goes on the outside. A gem that chains later captures our
# method as "the original", so that our `super` leads back to it: the native half notices the same call
# within itself and answers RECURSION, and we go to the method that we found when we came.
module HakaruAgent
  PASS = 0 # nothing to record here
  STARTED = 1
  RECURSION = 2

  # Sees constants appear (Ruby >= 3.2), without TracePoint, whose events cost JIT code.
  module ConstAdded
    private

    def const_added(name)
      super
      HakaruAgent.added(self, name) if WATCHED.key?(name)
    end
  end

  # Sees files loaded, for Ruby 3.1, which has no const_added.
  module RequireWatch
    private

    def require(path)
      result = super
      HakaruAgent.look_again if result
      result
    end
  end

  # Sees the methods of a driver that is loaded after the first request.
  module MethodWatch
    private

    def method_added(name)
      super
      HakaruAgent.hook_method(self, name) if WATCHED_METHODS.key?(name)
    end
  end

  # class => { method => [kind, text of the call, rows of its result] }
  #
  # The text is an expression over the first argument `first` and `self`.
  #
  # SETUP is time in the database driver that is no statement: connecting, preparing.
  SQL = 0
  HTTP = 1
  SETUP = 2
  PREPARED = "(@hakaru_sql || '')"
  # ActiveRecord runs a statement that returns nothing by one step. With columns a step is one row of many,
  # within `each` or `to_a`, which count once.
  STEPPED = "(column_count.zero? ? #{PREPARED} : nil)"
  PG_PREPARED = "((@hakaru_statements && @hakaru_statements[first]) || first)"
  ARRAY_ROWS = "(Array === result ? result.size : 0)"
  MYSQL_ROWS = "(Mysql2::Result === result ? result.count : 0)"
  PG_ROWS = "(PG::Result === result ? result.ntuples : 0)"
  REQUESTED = "HakaruAgent.http_text(self, first)"
  CONNECTED = '"HTTP connect #{address}"'

  CALLS = {
    "Mysql2::Client" => { query: [SQL, "first", MYSQL_ROWS],
                          connect: [SETUP, "''", "0"], close: [SETUP, "''", "0"] },
    "Mysql2::Statement" => { execute: [SQL, PREPARED, MYSQL_ROWS] },
    "Trilogy" => { query: [SQL, "first", "(result.respond_to?(:count) ? result.count : 0)"] },
    "PG::Connection" => %i[exec async_exec sync_exec query exec_params async_exec_params sync_exec_params]
      .to_h { |name| [name, [SQL, "first", PG_ROWS]] }
      .merge(%i[exec_prepared async_exec_prepared sync_exec_prepared]
        .to_h { |name| [name, [SQL, PG_PREPARED, PG_ROWS]] }),
    "SQLite3::Database" => %i[execute execute2 execute_batch execute_batch2 query]
      .to_h { |name| [name, [SQL, "first", ARRAY_ROWS]] },
    "SQLite3::Statement" => %i[execute execute! each to_a].to_h { |name| [name, [SQL, PREPARED, ARRAY_ROWS]] }
      .merge(step: [SQL, STEPPED, "0"]),
    "Net::HTTP" => { request: [HTTP, REQUESTED, "0"], connect: [HTTP, CONNECTED, "0"] }
  }.freeze

  # Methods whose result must remember the statement it was made from.
  PREPARES = {
    "Mysql2::Client" => { prepare: :remember_on_result },
    "SQLite3::Database" => { prepare: :remember_on_result },
    "PG::Connection" => { prepare: :remember_by_name, async_prepare: :remember_by_name }
  }.freeze

  WATCHED = (CALLS.keys.to_h { |name| [name.split("::").last.to_sym, true] })
    .merge(ConfigMiddleware: true, ThreadPool: true, Sinatra: true, ActionDispatch: true).freeze
  WATCHED_METHODS = (CALLS.values + PREPARES.values).flat_map(&:keys).to_h { |name| [name, true] }.freeze

  # They leave the name of the route in the env.
  FRAMEWORKS = %w[Sinatra ActionDispatch].freeze

  @armed = false
  @hooked = {}
  @codes = 0

  class << self
    # Nothing may come out of here but what the block gives.
    def quietly
      yield
    rescue Exception => e # rubocop:disable Lint/RescueException
      trouble(e)
      nil
    end

    def trouble(error)
      text = "#{error.class}: #{error.message}"[0, 300].b
      Native.trouble(text, text.bytesize)
    rescue Exception # rubocop:disable Lint/RescueException
      nil
    end

    def added(owner, name)
      quietly do
        full = Object.equal?(owner) ? name.to_s : "#{owner.name}::#{name}"
        case full
        when "Puma::Configuration::ConfigMiddleware" then owner.const_get(name).prepend(PumaCall)
        when "Puma::ThreadPool" then owner.const_get(name).prepend(PumaReady)
        when *FRAMEWORKS then Native.expect_route_names
        else watch(owner.const_get(name)) if @armed && CALLS.key?(full)
        end
      end
    end

    # A driver that is just being loaded has no methods yet.
    def watch(driver)
      driver.singleton_class.prepend(MethodWatch) unless driver.singleton_class.include?(MethodWatch)
    end

    def look_again
      quietly do
        hook_puma
        look_for_framework
        hook_loaded_drivers if @armed
      end
    end

    def look_for_framework
      Native.expect_route_names if FRAMEWORKS.any? { |name| loaded(name) }
    end

    def hook_puma
      return if @puma || !defined?(::Puma::Configuration::ConfigMiddleware) || !defined?(::Puma::ThreadPool)

      @puma = true
      ::Puma::Configuration::ConfigMiddleware.prepend(PumaCall)
      ::Puma::ThreadPool.prepend(PumaReady)
    end

    # The first request of this process: now the drivers that it uses are mostly there.
    def arm(config)
      quietly do
        @armed = true
        look_for_framework
        hook_loaded_drivers
        costs = calibrate
        facts = facts_of(config)
        server = defined?(::Puma::Const::PUMA_VERSION) ? "puma #{::Puma::Const::PUMA_VERSION}" : ""
        Native.hello(server, server.bytesize, *facts, *costs)
      end
    end

    def facts_of(config)
      options = config.respond_to?(:options) ? config.options : {}
      [options[:workers].to_i, options[:max_threads].to_i, pool_size]
    rescue StandardError
      [0, 0, 0]
    end

    def pool_size
      defined?(::ActiveRecord::Base) ? ::ActiveRecord::Base.connection_pool.size.to_i : 0
    rescue StandardError
      0
    end

    def hook_loaded_drivers
      (CALLS.keys | PREPARES.keys).each do |name|
        driver = loaded(name)
        next unless driver

        [CALLS, PREPARES].each { |table| table.fetch(name, {}).each_key { |method| hook_method(driver, method) } }
      end
    end

    # The class of that name if it is there; loads nothing.
    def loaded(name)
      name.split("::").reduce(Object) do |owner, part|
        return nil unless owner.const_defined?(part, false) && !owner.autoload?(part, false)

        owner.const_get(part, false)
      end
    end

    def hook_method(driver, method)
      quietly do
        name = driver.name
        known = driver.method_defined?(method) || driver.private_method_defined?(method)
        next unless known && !@hooked[[name, method]]

        if (call = CALLS.dig(name, method))
          @hooked[[name, method]] = true
          driver.prepend(call_module(driver, method, *call))
        end
        if (memory = PREPARES.dig(name, method))
          @hooked[[name, method]] = true
          driver.prepend(call_module(driver, method, SETUP, "''", "0"), prepare_module(method, memory))
        end
      end
    end

    # rubocop:disable Style/DocumentDynamicEvalDefinition
    def call_module(driver, method, kind, text, rows)
      code = ((@codes += 1) << 2) | kind
      original = driver.instance_method(method)
      Module.new do
        const_set(:ORIGINAL, original)
        module_eval(<<~RUBY, "hakaru_agent.rb", 1)
          def #{method}(*arguments, &block)
            first = arguments[0]
            case HakaruAgent.call_begin(#{code}, self, #{text})
            when #{STARTED}
              begin
                result = super
              ensure
                HakaruAgent.call_end(result) { #{rows} }
              end
            when #{RECURSION} then ORIGINAL.bind_call(self, *arguments, &block)
            else super
            end
          end
          ruby2_keywords(:#{method})
        RUBY
        private(method) if driver.private_method_defined?(method)
      end
    end
    # rubocop:enable Style/DocumentDynamicEvalDefinition

    def prepare_module(method, memory)
      Module.new do
        define_method(method) do |*arguments, **options, &block|
          result = options.empty? ? super(*arguments, &block) : super(*arguments, **options, &block)
          HakaruAgent.quietly { HakaruAgent.send(memory, self, result, arguments) }
          result
        end
      end
    end

    def remember_on_result(_connection, result, arguments)
      result.instance_variable_set(:@hakaru_sql, arguments[0]) if result && !result.frozen?
    end

    def remember_by_name(connection, _result, arguments)
      statements = connection.instance_variable_get(:@hakaru_statements) ||
                   connection.instance_variable_set(:@hakaru_statements, {})
      statements[arguments[0]] = arguments[1]
    end

    def call_begin(code, receiver, text)
      return PASS unless String === text

      state = Native.call_begin(code, receiver, text, text.bytesize)
      tell_database(receiver) if state == STARTED && !@told
      state
    end

    def http_text(connection, request)
      "HTTP #{request.method} #{connection.address}"
    rescue StandardError
      "HTTP"
    end

    def call_end(result)
      Native.call_end(result ? yield : 0)
    rescue Exception => e # rubocop:disable Lint/RescueException
      Native.call_end(0)
      trouble(e)
    end

    # Where the app's database is, so that its plans can be asked for. Once a process; kept in memory only.
    def tell_database(receiver)
      url = quietly { DatabaseUrl.of(receiver) }
      return unless url

      @told = true
      Native.database(url, url.bytesize)
    end

    # What the agent costs here: one request and one call with nothing inside, beside the same without us.
    def calibrate
      Native.dry(1)
      [request_cost, Native.event_cost, call_cost].map { |cost| cost.to_i.clamp(0, 1_000_000) }
    ensure
      Native.dry(0)
    end

    ROUNDS = 300

    def request_cost
      bare = Class.new { def call(env) = [200, env, nil] }
      wrapped = Class.new(bare) { prepend PumaCall }
      cost_of(wrapped.new, bare.new) { |app| app.call({}) }
    end

    # Measured within a request, since outside of one nothing is recorded.
    def call_cost
      bare = Class.new { def query(sql) = sql }
      wrapped = Class.new(bare)
      wrapped.prepend(call_module(wrapped, :query, SQL, "first", "0"))
      cost = 0
      @told = true
      measure = ->(_env) { cost = cost_of(wrapped.new, bare.new) { |client| client.query("SELECT 1") } }
      request = Class.new { define_method(:call) { |env| measure.call(env) } }
      request.prepend(PumaCall).new.call({})
      cost
    ensure
      @told = false
    end

    def cost_of(wrapped, bare)
      nanos = [wrapped, bare].map do |object|
        started = Native.now
        ROUNDS.times { yield object }
        Native.now - started
      end
      (nanos[0] - nanos[1]) / ROUNDS
    end
  end

  # The URL of the database that a driver's connection is to.
  module DatabaseUrl
    class << self
      def of(connection)
        case connection.class.name
        when "Mysql2::Client" then mysql(connection.query_options)
        when "Trilogy" then mysql(connection.connection_options)
        when "PG::Connection" then postgres(connection)
        when "SQLite3::Database" then sqlite(connection)
        end
      end

      private

      def mysql(options)
        place = options[:socket] ? "?socket=#{escape(options[:socket])}" : ""
        user = escape(options[:username] || options[:user] || "root")
        "mysql://#{user}:#{escape(options[:password])}@#{options[:host] || "localhost"}:" \
          "#{options[:port] || 3306}/#{escape(options[:database])}#{place}"
      end

      def postgres(connection)
        "postgres://#{escape(connection.user)}:#{escape(connection.pass)}@#{escape(connection.host)}:" \
          "#{connection.port}/#{escape(connection.db)}"
      end

      def sqlite(connection)
        path = connection.filename.to_s
        "sqlite:#{File.expand_path(path)}" unless path.empty?
      end

      def escape(text) = text.to_s.gsub(/[^A-Za-z0-9._-]/n) { |byte| format("%%%02X", byte.ord) }
    end
  end

  if Module.private_method_defined?(:const_added)
    Module.prepend(ConstAdded)
  else
    Kernel.prepend(RequireWatch)
  end
end
