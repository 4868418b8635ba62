# frozen_string_literal: true

# The seeded users: names by rule, so that flows/*.csv can be written from the same rule.
module People
  SYLLABLES = %w[ka ki ku ke ko sa shi su se so ta chi tsu te to na ni nu ne no ha hi fu he ho ma mi mu me mo].freeze

  module_function

  # The name of seeded user `id` (from 1): three syllables and the number, so none occurs twice.
  def name(id)
    syllables = 3.times.map { |place| SYLLABLES[(id * 7 + place * 11 + id / SYLLABLES.size**place) % SYLLABLES.size] }
    format("%<word>s%<id>04d", word: syllables.join, id: id)
  end

  def password(name) = name + name.reverse
end
