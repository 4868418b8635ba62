# frozen_string_literal: true

module Resolver
  # Such as 1.12.3; compared number by number.
  class Version
    include Comparable

    attr_reader :numbers

    def initialize(text)
      raise ArgumentError, "no version: #{text}" unless text.match?(/\A\d+(\.\d+)*\z/)

      @text = text
      @numbers = text.split(".").map { |number| Integer(number, 10) }
    end

    def <=>(other)
      numbers <=> other.numbers
    end

    # The first version that is not compatible any more: 1.3 for 1.2.7.
    def bump
      kept = numbers[0...-1]
      kept[-1] += 1
      Version.new(kept.join("."))
    end

    def to_s = @text
  end
end
