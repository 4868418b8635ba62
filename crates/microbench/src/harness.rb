# Measures a block of Ruby code inside the process that runs it. Loaded before the generated script, which calls HakaruBench.measure.
# Writes one line a fact; nothing is required and nothing printed, so that the code finds the process as it would be without.
module HakaruBench
  MONOTONIC = Process::CLOCK_MONOTONIC
  CPU = Process::CLOCK_PROCESS_CPUTIME_ID
  # The body is entered this often in a batch: JIT compilers count entries, and a loop that is entered once is interpreted for ever.
  ENTRIES = 16
  VALUE_BYTES = 200

  settings = (ENV.delete('HAKARU_BENCH') || '').split(';').map { |pair| pair.split('=', 2) }
  SETTINGS = Hash[settings]

  class << self
    def measure(body, empty, value)
      @lines = ["ready #{now}", "ruby #{RUBY_DESCRIPTION}", "debug #{debug}", "jit_start #{jit}"]
      calibrate(body)
      warm(body)
      at_first = SETTINGS['look'] == '1' ? live - @lines.size : nil
      before = counters
      waited { run_both(number('batches'), body, empty) }
      @lines << "allocated #{counters.zip(before).map { |after, start| after - start }.join(' ')} #{number('batches') * @turns}"
      retain(at_first)
      @lines << "jit #{jit}"
      look(body, empty, value) if SETTINGS['look'] == '1'
      @lines << "memory #{peak}"
      File.open(SETTINGS['out'], 'w') { |file| file.write(@lines.join("\n") + "\nend\n") }
    end

    private

    def number(name)
      SETTINGS.fetch(name, '0').to_i
    end

    def now
      Process.clock_gettime(MONOTONIC, :nanosecond)
    end

    # 1 for a Ruby that was built without optimisation, or with debugging code.
    def debug
      config = defined?(RbConfig) ? RbConfig::CONFIG : {}
      flags = "#{config['optflags']} #{config['CFLAGS']} #{config['cppflags']}"
      flags =~ /-O0\b|-DRUBY_DEBUG|-DVM_CHECK_MODE=[1-9]/ ? 1 : 0
    end

    # Doubles the turns until a batch is long enough, if they are not given.
    def calibrate(body)
      @turns = number('turns')
      return unless @turns.zero?

      @turns = 1
      deadline = now + number('limit')
      until batch('first', body) >= number('target') || now > deadline
        @turns *= 2
      end
    end

    # Batches that are not to count yet: so many, or as long as the limit.
    def warm(body)
      deadline = now + SETTINGS.fetch('warm_limit', '9000000000000').to_i
      number('warm').times do
        batch('warm', body)
        break if now > deadline
      end
    end

    # What of the time the process neither computed nor stood in the queue for a core.
    def waited
      wall, cpu, queued, gave = now, Process.clock_gettime(CPU, :nanosecond), in_queue, gave_up
      yield
      times = [now - wall, Process.clock_gettime(CPU, :nanosecond) - cpu, in_queue - queued, gave_up - gave]
      @lines << "waited #{times.join(' ')}"
    end

    # How often the main thread gave its core up by itself, as who waits does.
    def gave_up
      File.read('/proc/self/status')[/^voluntary_ctxt_switches:\s*(\d+)/, 1].to_i
    rescue StandardError
      0
    end

    def in_queue
      File.read('/proc/self/schedstat').split[1].to_i
    rescue StandardError
      0
    end

    # The loop alone is measured beside the loop with the body, in turn, so that both see the same cores.
    def run_both(batches, body, empty)
      GC.start
      beside = SETTINGS['empty'] != '0'
      batches.times do |index|
        without_gc do
          batch('empty', empty) if beside && index.odd?
          batch('batch', body)
          batch('empty', empty) if beside && index.even?
        end
      end
    end

    def without_gc
      return yield unless SETTINGS['gc'] == '0'

      GC.start
      GC.disable
      yield
      GC.enable
    end

    def batch(kind, block)
      turns = @turns
      chunk = turns / ENTRIES
      rest = turns
      rest -= chunk * ENTRIES if chunk > 0
      count, spent = GC.count, gc_time
      wall = Process.clock_gettime(MONOTONIC, :nanosecond)
      cpu = Process.clock_gettime(CPU, :nanosecond)
      left = -1
      if chunk > 0
        entries = ENTRIES
        left = block.call(chunk) while (entries -= 1) >= 0
      end
      left = block.call(rest) if rest > 0
      cpu = Process.clock_gettime(CPU, :nanosecond) - cpu
      wall = Process.clock_gettime(MONOTONIC, :nanosecond) - wall
      raise 'the script leaves the loop it is measured in (break)' unless left == -1

      @lines << "#{kind} #{turns} #{wall} #{cpu} #{GC.count - count} #{gc_time - spent}"
      wall
    end

    def gc_time
      GC.respond_to?(:total_time) ? GC.total_time : 0
    end

    def counters
      stat = GC.stat
      [stat[:total_allocated_objects] || 0]
    end

    # Objects that are still there when the collector has been, and how many of them the counted turns left; lines are our own.
    def retain(at_first)
      at_last = live
      @lines << "retained #{at_last - @lines.size - at_first} #{number('batches') * @turns}" if at_first
      @lines << "live #{at_last}"
    end

    def live
      GC.start
      GC.stat[:heap_live_slots] || 0
    end

    def jit
      if defined?(RubyVM::YJIT) && RubyVM::YJIT.respond_to?(:enabled?) && RubyVM::YJIT.enabled?
        stats = RubyVM::YJIT.runtime_stats || {}
        size = (stats[:inline_code_size] || 0) + (stats[:outlined_code_size] || 0)
        "yjit #{stats[:compiled_iseq_count] || 0} #{size} #{stats[:compile_time_ns] || 0}"
      elsif defined?(RubyVM::ZJIT) && RubyVM::ZJIT.respond_to?(:enabled?) && RubyVM::ZJIT.enabled?
        stats = RubyVM::ZJIT.respond_to?(:stats) && RubyVM::ZJIT.stats || {}
        "zjit #{stats[:compiled_iseq_count] || 0} #{stats[:code_region_bytes] || 0} #{stats[:compile_time_ns] || 0}"
      elsif defined?(RubyVM::RJIT) && RubyVM::RJIT.respond_to?(:enabled?) && RubyVM::RJIT.enabled?
        'rjit 0 0 0'
      else
        'none 0 0 0'
      end
    rescue StandardError
      'unknown 0 0 0'
    end

    # What the code is and gives, for doubts; behind all measurements.
    def look(body, empty, value)
      @lines << "instructions #{instructions(body)} #{instructions(empty)} #{inputs(body) - inputs(empty)}"
      @lines << "value #{shown(value.call)}" if SETTINGS['value'] == '1'
    rescue LocalJumpError, StandardError
      @lines << 'value -'
    end

    def instructions(block)
      defined?(RubyVM::InstructionSequence) ? RubyVM::InstructionSequence.of(block).to_a.last.grep(Array).size : -1
    end

    # Instructions that fetch what a compiler cannot know: variables, constants, and results of calls.
    def inputs(block)
      return 1 unless defined?(RubyVM::InstructionSequence)

      names = RubyVM::InstructionSequence.of(block).to_a.last.grep(Array).map { |one| one.first.to_s }
      names.count { |name| name =~ /\A(get|opt_send_without_block|send|invoke|opt_get|opt_getconstant|once|defineclass|definemethod)/ }
    end

    def shown(value)
      text = value.inspect.gsub(/0x\h{8,}/, '0x..')
      text = "#{text.bytesize} bytes, hash #{digest(text)}" if text.bytesize > VALUE_BYTES
      text.gsub(/\s/, ' ')
    end

    # FNV-1a: the same in every Ruby, which String#hash is not.
    def digest(text)
      text.each_byte.inject(0xcbf29ce484222325) { |hash, byte| ((hash ^ byte) * 0x100000001b3) & 0xffffffffffffffff }.to_s(16)
    end

    def peak
      File.read('/proc/self/status')[/VmHWM:\s*(\d+)/, 1].to_i * 1024
    rescue StandardError
      0
    end
  end
end
