# A fluid of particles in a box (smoothed particle hydrodynamics, after Müller, Charypar and Gross 2003): density by the poly6
# kernel, pressure by the spiky one, viscosity, gravity, walls. Neighbours are found through a grid of cells, or among all.
class Fluid
  WIDTH = 40.0
  HEIGHT = 20.0
  # Lengths are in radii of the kernels, the density of the fluid at rest is 1.
  STEP = 0.004
  MASS = 0.25
  STIFF = 500.0
  VISCOUS = 0.4
  GRAVITY = -10.0
  POLY6 = 4.0 / Math::PI
  SPIKY = 30.0 / Math::PI
  THICK = 40.0 / Math::PI

  Particle = Struct.new(:x, :y, :vx, :vy, :density, :pressure, :ax, :ay)

  attr_reader :particles

  # A block of so many particles, as high as the box, at its left.
  def initialize(count, grid: true)
    @grid = grid
    @particles = Array.new(count) do |number|
      Particle.new(0.25 + number / 36 * 0.5, 0.25 + number % 36 * 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    end
  end

  def step
    sort_into_cells
    @particles.each { |particle| weigh(particle) }
    @particles.each { |particle| push(particle) }
    @particles.each { |particle| move(particle) }
  end

  def checksum
    @particles.sum { |particle| particle.x + particle.y }.round(6)
  end

  # The box as text, the denser the darker.
  def draw(columns, rows)
    counts = Array.new(rows) { Array.new(columns, 0) }
    @particles.each do |particle|
      row = rows - 1 - (particle.y / HEIGHT * rows).to_i.clamp(0, rows - 1)
      counts[row][(particle.x / WIDTH * columns).to_i.clamp(0, columns - 1)] += 1
    end
    counts.map { |row| row.map { |count| ' .:oO@'[[count, 5].min] }.join.rstrip }.join("\n")
  end

  private

  def sort_into_cells
    @cells = Hash.new { |cells, key| cells[key] = [] }
    @particles.each { |particle| @cells[key(particle.x, particle.y)] << particle }
  end

  def key(x, y)
    x.floor * 4096 + y.floor
  end

  def each_near(particle, &block)
    return @particles.each(&block) unless @grid

    middle = key(particle.x, particle.y)
    -1.upto(1) do |across|
      -1.upto(1) do |up|
        found = middle + across * 4096 + up
        @cells[found].each(&block) if @cells.key?(found)
      end
    end
  end

  def weigh(particle)
    sum = 0.0
    each_near(particle) do |other|
      dx, dy = other.x - particle.x, other.y - particle.y
      left = 1.0 - dx * dx - dy * dy
      sum += left * left * left if left > 0.0
    end
    particle.density = MASS * POLY6 * sum
    particle.pressure = STIFF * [particle.density - 1.0, 0.0].max
  end

  def push(particle)
    ax, ay = 0.0, GRAVITY
    each_near(particle) do |other|
      dx, dy = particle.x - other.x, particle.y - other.y
      distance = Math.sqrt(dx * dx + dy * dy)
      next if distance >= 1.0 || distance <= 1e-9

      left = 1.0 - distance
      shared = MASS / (particle.density * other.density)
      apart = shared * SPIKY * left * left * (particle.pressure + other.pressure) / (2.0 * distance)
      along = shared * VISCOUS * THICK * left
      ax += apart * dx + along * (other.vx - particle.vx)
      ay += apart * dy + along * (other.vy - particle.vy)
    end
    particle.ax, particle.ay = ax, ay
  end

  def move(particle)
    particle.vx += STEP * particle.ax
    particle.vy += STEP * particle.ay
    particle.x, particle.vx = bounced(particle.x + STEP * particle.vx, particle.vx, WIDTH)
    particle.y, particle.vy = bounced(particle.y + STEP * particle.vy, particle.vy, HEIGHT)
  end

  def bounced(place, speed, wall)
    return [0.0 - place, -0.3 * speed] if place < 0.0
    return [2.0 * wall - place, -0.3 * speed] if place > wall

    [place, speed]
  end
end

def fluid(count, steps, grid: true)
  fluid = Fluid.new(count, grid: grid)
  steps.times { fluid.step }
  fluid.checksum
end
