# frozen_string_literal: true

# Lends out things that are dear to make.
class Pool
  def initialize(size)
    @free = Thread::Queue.new(Array.new(size) { yield })
  end

  def with
    lent = @free.pop
    yield lent
  ensure
    @free << lent if lent
  end
end
