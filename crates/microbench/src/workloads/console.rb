# A small console of its own kind: an 8-bit machine with a picture of 64 by 32 points, and a program of its own that bounces a ball.
# It stresses what emulators do: dispatch by opcode, instance variables, arrays of small numbers.
class Console
  WIDTH = 64
  HEIGHT = 32
  STEPS_PER_FRAME = 600

  # Two bytes an instruction: what, and its operand. The program moves a point by one in x and y, turns at the walls, counts frames.
  PROGRAM = [
    [:load, 0], [:store, 16], [:store, 17], [:load, 1], [:store, 18], [:store, 19],
    [:erase, 0],
    [:get, 16], [:plus, 18], [:store, 16], [:equal, 63], [:unless, 13], [:turn, 18],
    [:equal, 0], [:unless, 16], [:turn, 18],
    [:get, 17], [:plus, 19], [:store, 17], [:equal, 31], [:unless, 22], [:turn, 19],
    [:equal, 0], [:unless, 25], [:turn, 19],
    [:draw, 0], [:load, 20], [:store, 20],
    [:get, 20], [:minus_one, 0], [:store, 20], [:equal, 0], [:unless, 28],
    [:jump, 6]
  ].freeze

  attr_reader :frames

  def initialize
    @memory = Array.new(256, 0)
    @picture = Array.new(WIDTH * HEIGHT, 0)
    @accumulator = @counter = @frames = @checksum = 0
    @flag = false
  end

  def run(frames)
    frames.times { frame }
    self
  end

  def frame
    STEPS_PER_FRAME.times { execute(*PROGRAM[@counter]) }
    @frames += 1
    @checksum = (@checksum * 31 + @picture.each_with_index.sum { |point, place| point * place }) & 0xffffff
  end

  attr_reader :checksum

  def draw(*)
    @picture.each_slice(WIDTH).map { |row| row.map { |point| point.zero? ? ' ' : '#' }.join.rstrip }.join("\n")
  end

  private

  def execute(operation, operand)
    @counter += 1
    case operation
    when :load then @accumulator = operand
    when :store then @memory[operand] = @accumulator
    when :get then @accumulator = @memory[operand]
    when :plus then @accumulator = (@accumulator + @memory[operand]) & 0xff
    when :minus_one then @accumulator = (@accumulator - 1) & 0xff
    when :equal then @flag = @accumulator == operand
    when :unless then @counter = operand unless @flag
    when :turn then @memory[operand] = -@memory[operand] & 0xff
    when :erase then @picture[place] = 0
    when :draw then @picture[place] = 1
    when :jump then @counter = operand
    end
  end

  def place
    @memory[17] % HEIGHT * WIDTH + @memory[16] % WIDTH
  end
end

def console(frames)
  Console.new.run(frames).checksum
end
