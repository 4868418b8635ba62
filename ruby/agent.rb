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

  # In front of PumaCall: requests that the client has left out go on without it, by what Puma's own method does
  # (`shorten_puma` has tried that).
  module PumaFront
    def call(env)
      return super if Native.wanted(env)

      env[PUMA_CONFIG] = @config
      @app.call(env)
    end
  end

  # Sees another gem replace Puma's method.
  module FrontWatch
    private

    def method_added(name)
      super
      PumaFront.remove_method(:call) if name == :call && PumaFront.method_defined?(:call)
    end
  end

  # A worker of Unicorn: its app is put behind the same method as Puma's, once it is forked and built.
  module UnicornWorker
    private

    def init_worker_process(worker)
      readers = super
      HakaruAgent.quietly { @app = UnicornApp.new(@app, UnicornConfig.new(worker_processes)) }
      readers
    end
  end

  # What `arm` asks of a server's configuration.
  UnicornConfig = Struct.new(:workers) do
    def options = { workers: workers, max_threads: 1 }

    def name = "unicorn #{::Unicorn::Const::UNICORN_VERSION}"
  end

  # Stands in front of the app of a Unicorn worker.
  class UnicornApp
    prepend PumaCall

    def initialize(app, config)
      @app = app
      @config = config
    end

    def call(env) = @app.call(env)
  end

  # Sees the methods of a driver that is loaded after the first request.
  module MethodWatch
    private

    def method_added(name)
      super
      HakaruAgent.hook_method(self.name, self, name) if WATCHED_METHODS.key?(name)
    end

    def singleton_method_added(name)
      super
      HakaruAgent.hook_method("#{self.name}.", singleton_class, name) if WATCHED_METHODS.key?(name)
    end
  end

  # class => { method => [kind, text of the call, rows of its result] }; a dot at the end of the name stands
  # for its singleton class.
  #
  # The text is an expression over the first argument `first` and `self`.
  #
  # The kinds after HTTP are time in the database driver that is no statement.
  SQL = 0
  HTTP = 1
  SETUP = 2
  CONNECT = 3
  PREPARE = 4
  CLOSE = 5
  KIND_MASK = 7
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
  COMMAND = "HakaruAgent.redis_text(first)"

  CALLS = {
    "Mysql2::Client" => { query: [SQL, "first", MYSQL_ROWS],
                          connect: [CONNECT, "'Mysql2::Client'", "0"], close: [SETUP, "''", "0"] },
    "Mysql2::Statement" => { execute: [SQL, PREPARED, MYSQL_ROWS], close: [CLOSE, "'Mysql2::Statement'", "0"] },
    "Trilogy" => { query: [SQL, "first", "(result.respond_to?(:count) ? result.count : 0)"],
                   initialize: [CONNECT, "'Trilogy'", "0"] },
    "PG::Connection" => %i[exec async_exec sync_exec query exec_params async_exec_params sync_exec_params]
      .to_h { |name| [name, [SQL, "first", PG_ROWS]] }
      .merge(%i[exec_prepared async_exec_prepared sync_exec_prepared]
        .to_h { |name| [name, [SQL, PG_PREPARED, PG_ROWS]] }),
    "PG::Connection." => { new: [CONNECT, "'PG::Connection'", "0"] },
    "SQLite3::Database" => %i[execute execute2 execute_batch execute_batch2 query]
      .to_h { |name| [name, [SQL, "first", ARRAY_ROWS]] }
      .merge(initialize: [CONNECT, "'SQLite3::Database'", "0"]),
    "SQLite3::Statement" => %i[execute execute! each to_a].to_h { |name| [name, [SQL, PREPARED, ARRAY_ROWS]] }
      .merge(step: [SQL, STEPPED, "0"], close: [CLOSE, "'SQLite3::Statement'", "0"]),
    "Net::HTTP" => { request: [HTTP, REQUESTED, "0"], connect: [HTTP, CONNECTED, "0"] },
    # Stores that are not SQL are other services too; the text names the store and the command. redis-rb 5 stands on
    # redis-client, redis-rb 4 on a client of its own.
    "RedisClient" => %i[call call_v call_once call_once_v blocking_call blocking_call_v]
      .to_h { |name| [name, [HTTP, COMMAND, "0"]] }
      .merge(pipelined: [HTTP, "'Redis pipelined'", "0"], multi: [HTTP, "'Redis MULTI'", "0"]),
    "Redis::Client" => { call: [HTTP, COMMAND, "0"], call_pipeline: [HTTP, "'Redis pipelined'", "0"] },
    "Dalli::Client" => { perform: [HTTP, '"Memcached #{first}"', "0"], get_multi: [HTTP, "'Memcached get_multi'", "0"] }
  }.freeze

  # Methods whose result must remember the statement it was made from.
  PREPARES = {
    "Mysql2::Client" => { prepare: :remember_on_result },
    "SQLite3::Database" => { prepare: :remember_on_result },
    "PG::Connection" => { prepare: :remember_by_name, async_prepare: :remember_by_name }
  }.freeze

  # Work that has a name: class => { method => name }. What methods of one name spend inside each other
  # counts once.
  WORKS = {
    "JSON." => { generate: "JSON.generate", pretty_generate: "JSON.generate", parse: "JSON.parse", parse!: "JSON.parse" },
    "JSON::Ext::Generator::GeneratorMethods::Hash" => { to_json: "JSON.generate" },
    "JSON::Ext::Generator::GeneratorMethods::Array" => { to_json: "JSON.generate" },
    "ActiveSupport::JSON." => { encode: "JSON.generate", decode: "JSON.parse" },
    "Marshal." => { load: "Marshal.load", dump: "Marshal.dump" },
    "Rack::Session::Abstract::Persisted" => { load_session: "session load", commit_session: "session commit" },
    "Tilt::Template" => { render: "template" },
    "ActionView::Template" => { render: "template" },
    "ERB" => { result: "template" },
    "Logger::LogDevice" => { write: "log" }
  }.freeze

  TABLES = [CALLS, PREPARES, WORKS].freeze
  WATCHED_NAMES = TABLES.flat_map(&:keys).to_h { |name| [name.delete_suffix("."), true] }.freeze
  WATCHED = (WATCHED_NAMES.keys.to_h { |name| [name.split("::").last.to_sym, true] })
    .merge(ConfigMiddleware: true, ThreadPool: true, HttpServer: true, Sinatra: true, ActionDispatch: true, Driver: true)
    .freeze
  WATCHED_METHODS = TABLES.flat_map(&:values).flat_map(&:keys).to_h { |name| [name, true] }.freeze

  # They leave the name of the route in the env.
  FRAMEWORKS = %w[Sinatra ActionDispatch].freeze

  MAIN = Ractor.current

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
        when "Unicorn::HttpServer" then owner.const_get(name).prepend(UnicornWorker)
        when "WebSocket::Driver" then hook_websockets
        when *FRAMEWORKS then Native.expect_route_names
        else watch(full) if @armed && WATCHED_NAMES.key?(full)
        end
      end
    end

    # A driver that is just being loaded has no methods yet; one that is only promised by `autoload` stays so.
    def watch(name)
      driver = loaded(name)
      return unless driver

      driver.singleton_class.prepend(MethodWatch) unless driver.singleton_class.include?(MethodWatch)
    end

    def look_again
      quietly do
        hook_puma
        hook_unicorn
        hook_websockets
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

    def hook_unicorn
      return if @unicorn || !defined?(::Unicorn::HttpServer)

      @unicorn = true
      ::Unicorn::HttpServer.prepend(UnicornWorker)
    end

    def hook_websockets
      driver = loaded("WebSocket::Driver")
      driver.prepend(DriverMessages) if driver && !driver.include?(DriverMessages)
    end

    # The first request of this process for a reader: now the drivers that it uses are mostly there. Each reader is
    # told everything.
    def arm(config)
      quietly do
        @armed = true
        look_for_framework
        hook_loaded_drivers
        shorten_puma
        tell_settings
        @costs ||= calibrate
        @told = false
        facts = facts_of(config)
        server = server_name(config)
        Native.hello(server, server.bytesize, *facts, *@costs)
        Live.listen if defined?(Live)
      end
    end

    # Not when another gem stands around Puma's method.
    def shorten_puma
      middleware = loaded("Puma::Configuration::ConfigMiddleware")
      return unless middleware && middleware.ancestors[0, 2] == [PumaCall, middleware]
      return unless sets_config_only?(middleware, middleware.instance_method(:call).super_method)

      const_set(:PUMA_CONFIG, ::Puma::Const::PUMA_CONFIG)
      middleware.singleton_class.prepend(FrontWatch)
      middleware.prepend(PumaFront)
    end

    # Whether all that Puma's method does is to set its configuration in the env.
    def sets_config_only?(middleware, method)
      given = nil
      app = lambda { |env|
        given = env
        app
      }
      config = Object.new
      env = {}
      answer = method.bind_call(middleware.new(config, app), env)
      answer.equal?(app) && given.equal?(env) && env == { ::Puma::Const::PUMA_CONFIG => config }
    rescue StandardError
      false
    end

    # An app may have loaded the one and be served by the other.
    def server_name(config)
      return config.name if UnicornConfig === config

      defined?(::Puma::Const::PUMA_VERSION) ? "puma #{::Puma::Const::PUMA_VERSION}" : ""
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
      TABLES.each do |table|
        table.each do |name, methods|
          driver = loaded(name.delete_suffix("."))
          driver = driver.singleton_class if driver && name.end_with?(".")
          methods.each_key { |method| hook_method(name, driver, method) } if driver
        end
      end
    end

    # The class of that name if it is there; loads nothing.
    def loaded(name)
      name.split("::").reduce(Object) do |owner, part|
        return nil unless owner.const_defined?(part, false) && !owner.autoload?(part, false)

        owner.const_get(part, false)
      end
    end

    # The table's name of a class, and that class or its singleton class.
    def hook_method(name, driver, method)
      quietly do
        known = driver.method_defined?(method) || driver.private_method_defined?(method)
        next unless known && !@hooked[[name, method]]

        modules = modules_for(name, driver, method)
        next if modules.empty?

        @hooked[[name, method]] = true
        driver.prepend(*modules)
      end
    end

    def modules_for(name, driver, method)
      call = CALLS.dig(name, method)
      memory = PREPARES.dig(name, method)
      work = WORKS.dig(name, method)
      [
        call && call_module(driver, method, *call),
        memory && call_module(driver, method, PREPARE, "'#{name}'", "0"),
        memory && prepare_module(driver, method, memory),
        work && work_module(driver, method, work)
      ].compact
    end

    # rubocop:disable Style/DocumentDynamicEvalDefinition
    def call_module(driver, method, kind, text, rows)
      code = ((@codes += 1) << 3) | kind
      # A block around a connection or a statement holds calls of its own.
      apart = kind > HTTP ? "return super if block" : ""
      wrapper(driver, method, <<~RUBY)
        def #{method}(*arguments, &block)
          #{apart}
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
      RUBY
    end

    def work_module(driver, method, work)
      code = (@codes += 1) << 3
      wrapper(driver, method, <<~RUBY)
        def #{method}(*arguments, &block)
          case HakaruAgent::Native.work_begin(#{code}, self)
          when #{STARTED}
            begin
              super
            ensure
              HakaruAgent::Native.work_end("#{work}", #{work.bytesize})
            end
          when #{RECURSION} then ORIGINAL.bind_call(self, *arguments, &block)
          else super
          end
        end
      RUBY
    end

    # A module with that method, to be prepended; ORIGINAL in it is what was found.
    def wrapper(driver, method, source)
      original = driver.instance_method(method)
      Module.new do
        const_set(:ORIGINAL, original)
        module_eval("# frozen_string_literal: true\n#{source}", "hakaru_agent.rb", 1)
        ruby2_keywords(method)
        private(method) if driver.private_method_defined?(method)
      end
    end

    # No block makes the method: one with a block's surroundings cannot be called in another Ractor.
    def prepare_module(driver, method, memory)
      wrapper(driver, method, <<~RUBY)
        def #{method}(*arguments, &block)
          result = super
          HakaruAgent.quietly { HakaruAgent.#{memory}(self, result, arguments) }
          result
        end
      RUBY
    end
    # rubocop:enable Style/DocumentDynamicEvalDefinition

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
      tell_database(receiver) if state == STARTED && !@told && code & KIND_MASK != CONNECT
      state
    end

    def http_text(connection, request)
      "HTTP #{request.method} #{connection.address}"
    rescue StandardError
      "HTTP"
    end

    # A command is a name with its arguments, alone or in an array.
    def redis_text(command)
      command = command[0] while Array === command
      "Redis #{command.to_s.upcase}"
    rescue StandardError
      "Redis"
    end

    def call_end(result)
      Native.call_end(result ? yield : 0)
    rescue Exception => e # rubocop:disable Lint/RescueException
      Native.call_end(0)
      trouble(e)
    end

    # Where the app's database is, so that its plans can be asked for. Once a process; kept in memory only.
    def tell_database(receiver)
      # Another Ractor may not write that it has been told.
      return unless MAIN.equal?(Ractor.current)

      url = quietly { DatabaseUrl.of(receiver) }
      return unless url

      @told = true
      Native.database(url, url.bytesize)
    end

    # What this process is set to, as far as it costs or explains time, and how its models are related.
    def tell_settings
      lines = (quietly { Settings.all } || {}).merge(quietly { Associations.all } || {})
      text = lines.map { |name, value| "#{name}\t#{value}".tr("\r\n", " ") }.join("\n").b
      Native.settings(text, text.bytesize)
    end

    # Once a second, after a request.
    def tell_counters
      quietly do
        cause = Counters.cause
        Native.counters([*Counters.gc, *Counters.jit, *Counters.server], cause, cause.bytesize)
        look_at_models
      end
    end

    # Models may be loaded by the first request that needs them.
    def look_at_models
      models = Associations.models.size
      return if models == @models

      @models = models
      tell_settings
    end

    # What the agent costs here: one request and one call with nothing inside, beside the same without us.
    def calibrate
      Native.dry(1)
      [request_cost, Native.event_cost, call_cost].map { |cost| cost.to_i.clamp(0, 1_000_000) }
    ensure
      Native.dry(0)
    end

    BATCHES = 30
    ROUNDS = 10

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

    # Both sides take turns in short batches, and the median batch of each counts: a pause of the host, a
    # collection and a compiler's first sight of the code fall on few of them.
    def cost_of(wrapped, bare)
      batches = Array.new(BATCHES) do
        [wrapped, bare].map do |object|
          started = Native.now
          ROUNDS.times { yield object }
          Native.now - started
        end
      end
      with, without = batches.transpose.map { |times| times.sort[BATCHES / 2] }
      (with - without) / ROUNDS
    end
  end

  if Module.private_method_defined?(:const_added)
    Module.prepend(ConstAdded)
  else
    Kernel.prepend(RequireWatch)
  end
end
