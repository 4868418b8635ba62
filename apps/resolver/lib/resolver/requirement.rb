# frozen_string_literal: true

module Resolver
  # Such as "~> 1.2.0" or ">= 1.0, < 3.0".
  class Requirement
    COMPARE = {
      ">=" => ->(version, bound) { version >= bound },
      "<" => ->(version, bound) { version < bound },
      "~>" => ->(version, bound) { version >= bound && version < bound.bump }
    }.freeze

    def initialize(text)
      @bounds = text.split(",").map do |part|
        operator, bound = part.strip.match(/\A(>=|<|~>)\s*([\d.]+)\z/).captures
        [COMPARE.fetch(operator), Version.new(bound)]
      end
    end

    def satisfied_by?(version)
      @bounds.all? { |compare, bound| compare.call(version, bound) }
    end
  end
end
