# Bodies that attract each other, moved in small steps: floats in instance variables.
class Body
  attr_accessor :x, :y, :z, :vx, :vy, :vz, :mass

  def initialize(x, y, z, vx, vy, vz, mass)
    @x, @y, @z, @vx, @vy, @vz, @mass = x, y, z, vx, vy, vz, mass
  end

  def move(step)
    @x += @vx * step
    @y += @vy * step
    @z += @vz * step
  end

  def attract(other, step)
    dx, dy, dz = @x - other.x, @y - other.y, @z - other.z
    squared = dx * dx + dy * dy + dz * dz
    pull = step / (squared * Math.sqrt(squared))
    @vx -= dx * other.mass * pull
    @vy -= dy * other.mass * pull
    @vz -= dz * other.mass * pull
    other.vx += dx * @mass * pull
    other.vy += dy * @mass * pull
    other.vz += dz * @mass * pull
  end
end

# A sun, and four bodies that circle it at whole distances.
def bodies(steps)
  all = [Body.new(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 40.0)]
  4.times do |number|
    distance = number + 1.0
    all << Body.new(distance, 0.0, 0.1 * number, 0.0, Math.sqrt(40.0 / distance), 0.0, 0.01 * (number + 1))
  end
  steps.times do
    all.each_with_index do |body, index|
      (index + 1...all.size).each { |other| body.attract(all[other], 0.001) }
    end
    all.each { |body| body.move(0.001) }
  end
  all.sum { |body| body.x + body.y + body.z }.round(6)
end
