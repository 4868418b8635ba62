# Stands in for the gem benchmark_driver while a Ruby script with its interface is read: writes the jobs down, measures nothing.
module Benchmark
  def self.driver(runner: nil, output: nil, repeat_count: nil, **)
    jobs = HakaruDriver.new(runner: runner, output: output, repeat_count: repeat_count)
    yield jobs
    File.open(ENV.fetch('HAKARU_BENCH_JOBS'), 'a') { |file| file.puts(jobs.to_json) }
  end

  class HakaruDriver
    def initialize(runner:, output:, repeat_count:)
      @options = { runner: runner, output: output, repeat_count: repeat_count }
      @preludes = []
      @jobs = []
      @executables = []
      @managed = { rbenv: [], rvm: [] }
    end

    def prelude(script)
      @preludes << script
    end

    def report(name, script = nil)
      @jobs << { name: name.to_s, script: (script || name).to_s }
    end

    def loop_count(count)
      @loop_count = count
    end

    def output(name)
      @options[:output] = name
    end

    def runner(name)
      @options[:runner] = name
    end

    def repeat_count(count)
      @options[:repeat_count] = count
    end

    def executable(name:, command: [])
      @executables << "#{name}::#{Array(command).map { |word| "'#{word}'" }.join(' ')}"
    end

    def rbenv(*versions)
      @managed[:rbenv].concat(versions)
    end

    def rvm(*versions)
      @managed[:rvm].concat(versions)
    end

    # Always compared, and always as quiet as hakaru is.
    def compare!; end

    def verbose(_level = 1); end

    def bundler; end

    def to_json(*)
      require 'json'
      suite = { prelude: @preludes.join("\n"), loop_count: @loop_count, benchmark: @jobs }
      options = @options.map { |key, value| [key, value&.to_s] }.to_h
      JSON.generate(options.merge(suite: JSON.generate(suite.compact), executables: @executables, **@managed))
    end
  end
end
