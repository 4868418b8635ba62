# JSON, ERB, regular expressions, strings and hashes: what most of the time of web applications goes into.
require 'json'
require 'erb'

ORDERS = Array.new(40) do |number|
  { 'id' => number, 'name' => "customer #{number}", 'total' => number * 1.25, 'lines' => Array.new(5) { |line| { 'sku' => "A#{line}", 'count' => line } } }
end
ORDERS_JSON = JSON.generate(ORDERS)
PAGE = ERB.new("<ul><% ORDERS.each do |order| %><li><%= order['name'] %>: <%= order['total'] %></li><% end %></ul>")
LOG = Array.new(200) { |line| "2026-01-#{format('%02d', line % 28 + 1)} 10:00:0#{line % 10} GET /orders/#{line} 200 #{line * 3}ms\n" }.join

class View
  def initialize(orders)
    @orders = orders
  end

  eval "def page\n#{ERB.new("<% @orders.each do |order| %><li><%= ERB::Util.html_escape(order['name']) %></li><% end %>").src}\nend"
end

VIEW = View.new(ORDERS)

def json
  JSON.parse(ORDERS_JSON).sum { |order| order['lines'].sum { |line| line['count'] } }
end

def json_out
  JSON.generate(ORDERS).bytesize
end

def erb
  PAGE.result(binding).bytesize
end

def templates
  VIEW.page.bytesize
end

def patterns
  LOG.scan(%r{^(\S+) \S+ GET /orders/(\d+) 200 (\d+)ms$}).sum { |_, _, time| time.to_i }
end

def strings
  words = LOG.tr('/', ' ').split.map { |word| word.capitalize.sub('Ms', '') }
  words.join(',').bytesize + words.uniq.size
end

def hashes
  counts = Hash.new(0)
  2_000.times { |number| counts["key #{number % 300}"] += number }
  counts.select { |key, _| key.end_with?('7') }.sum { |_, count| count }
end
