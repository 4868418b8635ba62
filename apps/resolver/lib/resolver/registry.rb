# frozen_string_literal: true

module Resolver
  # Made-up packages, the same each time. Package n depends on packages with larger numbers.
  class Registry
    # Specs handed out, and how many different ones among them.
    attr_reader :told

    def initialize(packages:, versions:)
      @told = 0
      @asked = {}
      @texts = Array.new(packages) { |n| [name(n), texts_of(n, packages, versions)] }.to_h
    end

    def roots = [[name(0), Requirement.new(">= 1.0.0")], [name(1), Requirement.new(">= 1.0.0")]]

    # All versions of a package, the newest first.
    def specs(name)
      texts = @texts.fetch(name)
      @told += texts.size
      @asked[name] = texts.size
      texts.map { |version, dependencies| Spec.new(name, version, dependencies) }
    end

    def distinct = @asked.values.sum

    private

    def name(number) = format("package%03d", number)

    def texts_of(number, packages, versions)
      Array.new(versions) do |minor|
        others = [1, 2, 5].map { |step| number + step }.select { |other| other < packages }
        ["1.#{versions - minor}.0", others.to_h { |other| [name(other), requirement(other, minor, versions)] }]
      end
    end

    # The newest few ask for more than there is, so that the search has to step back.
    def requirement(other, minor, versions)
      return ">= 1.#{versions + 1}.0" if (minor % 3).zero? && minor < 6 && (other % 4).zero?

      minor.even? ? ">= 1.2.0, < 2.0" : ">= 1.1.0"
    end
  end
end
