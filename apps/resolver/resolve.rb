# frozen_string_literal: true

# Resolves the dependencies of a made-up registry and prints one version a package.
require_relative "lib/resolver"

registry = Resolver::Registry.new(packages: Integer(ENV.fetch("PACKAGES", 60)), versions: 25)
chosen = Resolver::Search.new(registry).resolve(registry.roots)
chosen.sort.each { |name, version| puts "#{name} #{version}" }
warn "#{registry.told} specs told, #{registry.distinct} distinct"
