# Takeuchi's function: calls of methods, and little else.
def tarai(x, y, z)
  return y if x <= y

  tarai(tarai(x - 1, y, z), tarai(y - 1, z, x), tarai(z - 1, x, y))
end
