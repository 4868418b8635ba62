# A multiplicative congruence: integer arithmetic in a loop, nothing else. The generator of Park and Miller (1988).
def congruence(steps)
  value = 1
  step = 0
  while step < steps
    value = value * 16_807 % 2_147_483_647
    step += 1
  end
  value
end
