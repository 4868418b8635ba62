# Binary trees, built and counted: many small objects, and their collection.
class Tree
  attr_reader :left, :right

  def initialize(depth)
    return if depth.zero?

    @left = Tree.new(depth - 1)
    @right = Tree.new(depth - 1)
  end

  def count
    1 + (@left ? @left.count + @right.count : 0)
  end
end

def trees(depth, times)
  kept = Tree.new(depth)
  sum = 0
  times.times { sum += Tree.new(depth - 4).count }
  sum + kept.count
end
