# frozen_string_literal: true

module Resolver
  # Takes the newest version that fits, and steps back where none does.
  class Search
    LOOK_AHEAD = 2

    def initialize(registry)
      @registry = registry
    end

    # Name => version.
    def resolve(requirements)
      chosen = search(requirements, {}) or raise "no solution"
      chosen.transform_values { |spec| spec.version.to_s }
    end

    private

    def search(open, chosen)
      return chosen if open.empty?

      (name, requirement), *rest = open
      if (known = chosen[name])
        return requirement.satisfied_by?(known.version) ? search(rest, chosen) : nil
      end
      candidates(name, requirement).each do |spec|
        next unless possible?(spec)

        found = search(rest + spec.dependencies, chosen.merge(name => spec))
        return found if found
      end
      nil
    end

    def candidates(name, requirement)
      @registry.specs(name).select { |spec| requirement.satisfied_by?(spec.version) }
    end

    # Whether each of its dependencies has any version that fits, and so on for some steps: that spares the
    # search many steps back.
    def possible?(spec, steps = LOOK_AHEAD)
      spec.dependencies.all? do |name, requirement|
        candidates(name, requirement).any? { |other| steps.zero? || possible?(other, steps - 1) }
      end
    end
  end
end
