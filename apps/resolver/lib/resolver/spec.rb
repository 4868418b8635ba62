# frozen_string_literal: true

module Resolver
  # One version of a package with what it depends on. Reading its texts takes time.
  class Spec
    attr_reader :name, :version, :dependencies

    def initialize(name, version, dependencies)
      @name = name
      @version = Version.new(version)
      @dependencies = dependencies.map { |other, requirement| [other, Requirement.new(requirement)] }
    end
  end
end
