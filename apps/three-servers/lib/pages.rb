# frozen_string_literal: true

require_relative "waiter"

# Work with the memory of an app: many methods, each with objects of its own. After a pause it takes
# longer, since its memory has left the caches by then.
class Pages
  METHODS = 400
  KEYS = 6

  HEADERS = { "content-type" => "text/plain", "cache-control" => "no-store" }.freeze

  METHODS.times do |number|
    class_eval <<~RUBY, __FILE__, __LINE__ + 1
      # def page_7(row)
      def page_#{number}(row)
        text = +""
        row.each { |key, value| text << key << value }
        { length: text.length * #{number}, mark: text.hash % #{number + 7}, keys: [row.size, #{number}] }
      end
    RUBY
  end

  def initialize(wait_ms:)
    @wait_ms = Float(ENV.fetch("WAIT_MS", wait_ms))
    @waiter = Waiter.new
    @rows = Array.new(METHODS) { |number| Array.new(KEYS) { |key| ["key#{key}-#{number}", ("v" * 20) + number.to_s] }.to_h }
    @names = Array.new(METHODS) { |number| :"page_#{number}" }
  end

  def call(_env)
    first = work
    @waiter.wait(@wait_ms) if @wait_ms.positive?
    [200, HEADERS.dup, ["#{first + work}\n"]]
  end

  private

  def work
    @names.each_with_index.sum { |name, number| send(name, @rows[number])[:length] }
  end
end
