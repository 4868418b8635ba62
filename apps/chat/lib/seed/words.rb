# frozen_string_literal: true

# Sentences and channel names from a seeded generator.
class Words
  SUBJECTS = [
    "The night build", "Our oldest server", "A careful reviewer", "The morning train", "My neighbour's cat",
    "The coffee machine", "Yesterday's release", "The new index", "Somebody upstairs", "The third replica",
    "An unread letter", "The whole kitchen", "That small script", "The lighthouse", "Every second visitor"
  ].freeze
  VERBS = [
    "waits for", "has quietly replaced", "never forgets", "is faster than", "was looking for", "borrowed",
    "keeps measuring", "apologised to", "outlived", "has learned from", "goes on counting", "painted"
  ].freeze
  OBJECTS = [
    "the second deploy", "a very slow query", "ten thousand messages", "the summer festival", "two paper boats",
    "the long stairway", "a borrowed umbrella", "all the open windows", "the missing comma", "a warm cup of tea",
    "the quiet weekend", "one more connection", "the blue notebook", "half of the garden"
  ].freeze
  PLACES = %w[harbour garden attic library kitchen market station workshop orchard observatory].freeze

  def initialize(random)
    @random = random
  end

  # Checks of a load test want to find a message by its text, so it is numbered, and to know whether
  # it is shown under the right name, so it is signed.
  def message(number, author) = "#{text(3)} (#{number}, by #{author})"

  def text(sentences) = Array.new(sentences) { sentence }.join(" ")

  def channel_name(number) = "#{PLACES[(number - 1) % PLACES.size]}-#{number}"

  def channel_description = text(12)

  private

  def sentence = "#{pick(SUBJECTS)} #{pick(VERBS)} #{pick(OBJECTS)}."

  def pick(list) = list[@random.rand(list.size)]
end
