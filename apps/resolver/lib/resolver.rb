# frozen_string_literal: true

# A dependency resolver, as package managers have one.
module Resolver
end

require_relative "resolver/version"
require_relative "resolver/requirement"
require_relative "resolver/spec"
require_relative "resolver/registry"
require_relative "resolver/search"
