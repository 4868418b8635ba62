# frozen_string_literal: true

# Stands in for the gem of this name, which fails tests without assertions and which no Debian has: those pass here, with the
# agent and without it.
module Minitest
  class Test
    def self.prove_it! = nil
  end
end
