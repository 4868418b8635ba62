
# What the runtime says of itself when a profiled process ends: its collector, its JIT, its memory. Each fact is a
# name that ends with its unit, and a number; what a Ruby does not know is left out.
module HakaruAgent
  # Read once, at the end, from GC.stat, the JIT's own counters and /proc.
  module RuntimeFacts
    GC_KEYS = {
      minor_gc_count: "gc_minor_count", major_gc_count: "gc_major_count", time: "gc_ms", heap_live_slots: "gc_live_slots_count",
      heap_free_slots: "gc_free_slots_count", total_allocated_objects: "gc_allocated_count",
      malloc_increase_bytes: "gc_malloc_increase_bytes", oldmalloc_increase_bytes: "gc_oldmalloc_increase_bytes"
    }.freeze
    YJIT_KEYS = {
      compiled_iseq_count: "jit_compiled_count", invalidation_count: "jit_invalidated_count",
      code_region_size: "jit_code_bytes"
    }.freeze
    # Code that lies in more pages of this size than it fills costs misses of the TLB.
    LARGE_PAGE = 2 << 20

    class << self
      def tell
        all.each { |name, value| send_line("#{name}\t#{value}") }
      end

      private

      def all = [gc, jit, code, memory].reduce(:merge)

      def gc
        stat = GC.stat
        GC_KEYS.to_h { |key, name| [name, stat[key]] }.compact
      end

      def jit
        return {} unless defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?

        stats = RubyVM::YJIT.runtime_stats
        told = YJIT_KEYS.to_h { |key, name| [name, stats[key]] }.compact
        told["jit_compile_ms"] = stats[:compile_time_ns] / 1e6 if stats[:compile_time_ns]
        told["jit_ratio_share"] = stats[:ratio_in_yjit] / 100.0 if stats[:ratio_in_yjit]
        told
      end

      # Executable mappings: how many, how large, and over how many large pages.
      def code
        spans = File.foreach("/proc/self/maps").filter_map do |line|
          range, rights = line.split(" ", 3)
          range.split("-").map { |address| address.to_i(16) } if rights.include?("x")
        end
        pages = spans.flat_map { |from, to| ((from / LARGE_PAGE)..((to - 1) / LARGE_PAGE)).to_a }.uniq
        { "code_mappings_count" => spans.size, "code_bytes" => spans.sum { |from, to| to - from },
          "code_large_pages_count" => pages.size }
      end

      def memory
        status = File.read("/proc/self/status")
        rollup = File.read("/proc/self/smaps_rollup")
        { "rss_bytes" => status[/VmRSS:\s+(\d+)/, 1].to_i << 10, "pss_bytes" => rollup[/^Pss:\s+(\d+)/, 1].to_i << 10,
          "threads_count" => status[/Threads:\s+(\d+)/, 1].to_i,
          "open_files_count" => Dir.children("/proc/self/fd").size }
      end

      def send_line(text)
        Native.profile_fact(text, text.bytesize)
      end
    end
  end
end
