
# What a process tells of itself beside its requests: its settings, the counters of Ruby and of the server, and where
# its database is.
module HakaruAgent
  # Settings of the process that rules look at; docs/agent.md lists the names.
  module Settings
    # In an app that somebody else starts nobody names it: the folder that it starts in, if that looks like one.
    APP_ROOT = ENV.fetch("HAKARU_APP_ROOT") do
      Dir.pwd if !ENV.key?("HAKARU_RING_DIR") && %w[config.ru Gemfile].any? { |name| File.exist?(name) }
    rescue SystemCallError
      nil
    end

    class << self
      def all
        given = %w[RACK_ENV RAILS_ENV APP_ENV MALLOC_ARENA_MAX RUBYOPT].to_h { |name| [name, ENV[name]] }
        found = given.merge(collector, "framework" => framework, "mapper" => mapper, "environment" => environment,
                            "reloading" => reloading, "log level" => log_level, "log device" => log_device,
                            "jit" => jit, "allocator" => allocator, "app root" => APP_ROOT)
        found.compact.to_h { |name, value| [name, value.to_s.b[0, 200]] }
      end

      private

      def loaded(name) = HakaruAgent.send(:loaded, name)

      # The variables of the garbage collector.
      def collector = ENV.select { |name, _| name.start_with?("RUBY_GC_") }.first(20).to_h

      # Rails where there is an application: parts of Rails are used without one, and one may have Sinatra inside.
      def framework
        return "Rails" if loaded("Rails") && ::Rails.respond_to?(:application) && ::Rails.application

        "Sinatra" if loaded("Sinatra::Base")
      end

      # The object mappers with possible connections, models or not.
      def mapper
        mappers = []
        mappers << "ActiveRecord" if loaded("ActiveRecord::Base")
        mappers << "Sequel" if loaded("Sequel::Database") && ::Sequel::DATABASES.any?
        mappers.join(", ") unless mappers.empty?
      end

      # What the framework takes itself to be in.
      def environment
        if loaded("Rails") && ::Rails.respond_to?(:env) then ::Rails.env
        elsif loaded("Sinatra::Base") then ::Sinatra::Base.environment
        end
      end

      # What looks at source files again on every request.
      def reloading
        application = ::Rails.application if loaded("Rails") && ::Rails.respond_to?(:application)
        return "Rails" if application && !application.config.cache_classes
        return "Sinatra::Reloader" if loaded("Sinatra::Reloader")

        "Rack::Reloader" if loaded("Rack::Reloader")
      end

      def logger = (::Rails.logger if loaded("Rails") && ::Rails.respond_to?(:logger))

      def log_level = logger && %w[debug info warn error fatal unknown][logger.level]

      def log_device
        device = logger&.instance_variable_get(:@logdev)&.dev
        return unless device

        "#{device.respond_to?(:path) ? device.path : device.class}#{", sync" if device.sync}"
      rescue StandardError
        nil
      end

      def jit
        return "yjit" if defined?(::RubyVM::YJIT) && ::RubyVM::YJIT.enabled?

        "rjit" if defined?(::RubyVM::RJIT) && ::RubyVM::RJIT.enabled?
      end

      # The allocator where it is not glibc's: loaded before other libraries, or linked with Ruby.
      def allocator
        return "musl" if RUBY_PLATFORM.include?("musl")

        linked = defined?(::RbConfig) ? ::RbConfig::CONFIG.values_at("MAINLIBS", "LIBS") : []
        [ENV["LD_PRELOAD"].to_s.b, *linked].join(" ")[/jemalloc|tcmalloc|mimalloc/]
      end
    end
  end

  # How the loaded models are related, so that advice can name an association. Loads nothing.
  module Associations
    # More are left out: advice then names a column.
    MOST = 500
    KINDS = { belongs_to: :one, many_to_one: :one, has_many: :many, has_one: :many, one_to_many: :many, one_to_one: :many }.freeze
    JOINED = %i[has_and_belongs_to_many many_to_many].freeze

    class << self
      # By name, such as `association ActiveRecord Order.customer`: kind, tables from and to, and the column of the latter that is
      # compared, such as `one orders customers id`. Where a table joins the two, its column is compared, and its name follows:
      # `many orders tags order_id orders_tags`.
      def all
        models.flat_map { |model| HakaruAgent.quietly { of(model) } || [] }.first(MOST).to_h
      end

      def models
        [*active_record, *sequel]
      end

      private

      def active_record
        base = HakaruAgent.send(:loaded, "ActiveRecord::Base")
        base ? base.descendants.reject(&:abstract_class?) : []
      end

      def sequel
        base = HakaruAgent.send(:loaded, "Sequel::Model")
        base ? below(base).select(&:name) : []
      end

      def below(model) = model.subclasses.flat_map { |child| [child, *below(child)] }

      def of(model)
        model.respond_to?(:reflect_on_all_associations) ? of_active_record(model) : of_sequel(model)
      end

      def of_active_record(model)
        plain = model.reflect_on_all_associations.reject { |it| it.polymorphic? || it.options[:as] }
        plain.filter_map do |association|
          words = association.options[:through] ? through_words(model, association) : own_words(model, association)
          line("ActiveRecord", model, association.name, words) if words
        end
      end

      def own_words(model, association)
        other = class_named(association.class_name, model) or return
        tables = [model.table_name, other.table_name]
        return [:many, *tables, association.foreign_key, association.join_table] if JOINED.include?(association.macro)

        kind = KINDS[association.macro]
        [kind, *tables, kind == :one ? other.primary_key : association.foreign_key] if kind
      end

      # Through one table whose rows belong to the model; longer ways are left out. The class between is looked for first: asking for
      # the other one would load it.
      def through_words(model, association)
        way = model.reflect_on_association(association.options[:through])
        return if KINDS[way&.macro] != :many || way.options[:through] || way.options[:as]

        joining = class_named(way.class_name, model) or return
        other = class_named(association.class_name, model) or return
        [:many, model.table_name, other.table_name, way.foreign_key, joining.table_name]
      end

      def of_sequel(model)
        model.association_reflections.values.filter_map do |association|
          other = class_named(association[:class_name].to_s, model)
          words = other && sequel_words(model, association, other)
          line("Sequel", model, association[:name], words) if words
        end
      end

      def sequel_words(model, association, other)
        tables = [model.table_name, other.table_name]
        kind = KINDS[association[:type]]
        if JOINED.include?(association[:type])
          [:many, *tables, association[:left_key], association[:join_table]]
        elsif kind
          [kind, *tables, kind == :one ? other.primary_key : association[:key]]
        end
      end

      def line(library, model, name, words)
        return if words.any? { |word| !word || word.to_s.empty? || word.to_s.include?(" ") }

        ["association #{library} #{model.name}.#{name}", words.join(" ")]
      end

      # As the model's own code would find it, if it is there.
      def class_named(name, model)
        owners = model.name.split("::")
        paths = owners.size.downto(0).map { |depth| [*owners.first(depth), *name.delete_prefix("::").split("::")].join("::") }
        paths.each do |path|
          found = HakaruAgent.send(:loaded, path)
          return found if Class === found && found.respond_to?(:table_name)
        end
        nil
      end
    end
  end

  # Ruby's counters and the server's; −1 where there is none.
  module Counters
    class << self
      def gc
        stat = GC.stat
        [stat[:count], stat[:major_gc_count], stat[:time].to_i * 1_000_000, stat[:heap_live_slots]]
      end

      def cause
        last = GC.latest_gc_info
        major = last[:major_by] ? ", major by #{last[:major_by]}" : ""
        "#{last[:gc_by]}#{major}".b
      end

      def jit
        return [-1] * 4 unless defined?(::RubyVM::YJIT) && ::RubyVM::YJIT.enabled?

        stats = ::RubyVM::YJIT.runtime_stats
        [stats[:compiled_iseq_count], stats[:code_region_size], stats[:compile_time_ns], stats[:invalidation_count]]
          .map(&:to_i)
      end

      # Threads of Puma with a request, and requests that wait for one.
      def server
        stats = ::Puma::Server.current&.stats if defined?(::Puma::Server) && ::Puma::Server.respond_to?(:current)
        return [-1, -1] unless stats

        [stats[:busy_threads] || (stats[:max_threads] - stats[:pool_capacity]), stats[:backlog]]
      rescue StandardError
        [-1, -1]
      end
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
end
