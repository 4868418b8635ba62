# frozen_string_literal: true

require_relative "clicker/item"
require_relative "clicker/room"
require_relative "clicker/socket"

# A game of clicking, played in rooms over WebSockets: what is clicked buys machines that click, and numbers grow
# until they have thousands of digits.
module Clicker
end
