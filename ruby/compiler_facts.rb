
# What Ruby's compiler says of itself when a profiling ends: each fact is a name that ends with its unit, and a number;
# what a Ruby does not know is left out. All other facts are read by the native half.
module HakaruAgent
  # Read from the compiler's own counters.
  module CompilerFacts
    YJIT_KEYS = {
      compiled_iseq_count: "jit_compiled_count", invalidation_count: "jit_invalidated_count",
      code_region_size: "jit_code_bytes"
    }.freeze

    class << self
      def all
        return {} unless defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?

        stats = RubyVM::YJIT.runtime_stats
        told = YJIT_KEYS.to_h { |key, name| [name, stats[key]] }.compact
        told["jit_compile_ms"] = stats[:compile_time_ns] / 1e6 if stats[:compile_time_ns]
        told["jit_ratio_share"] = stats[:ratio_in_yjit] / 100.0 if stats[:ratio_in_yjit]
        told
      end
    end
  end

  class << self
    def tell_compiler
      quietly do
        CompilerFacts.all.each do |name, value|
          text = "#{name}\t#{value}"
          Native.profile_fact(text, text.bytesize)
        end
      end
    end
  end
end
