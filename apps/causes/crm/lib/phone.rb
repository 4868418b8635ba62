# frozen_string_literal: true

# Writes numbers as people read them.
module Phone
  def self.format(number)
    text = ""
    number.to_s.each_char.with_index do |digit, index|
      text += " " if (index % 2).zero? && index.positive?
      text += digit
    end
    text
  end
end
