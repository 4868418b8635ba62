# Points of the Mandelbrot set on a grid: floats in a loop.
def mandelbrot(size, limit)
  inside = 0
  size.times do |row|
    y = 2.0 * row / size - 1.0
    size.times do |column|
      x = 2.0 * column / size - 1.5
      real = imaginary = 0.0
      turns = 0
      while turns < limit && real * real + imaginary * imaginary < 4.0
        real, imaginary = real * real - imaginary * imaginary + x, 2.0 * real * imaginary + y
        turns += 1
      end
      inside += 1 if turns == limit
    end
  end
  inside
end
