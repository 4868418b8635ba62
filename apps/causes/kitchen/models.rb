# frozen_string_literal: true

require "sequel"

DB = Sequel.connect(ENV.fetch("DATABASE_URL"), max_connections: 5)

class Cook < Sequel::Model
end

class Tag < Sequel::Model
end

class Ingredient < Sequel::Model
end

class Recipe < Sequel::Model
  many_to_one :cook
  one_to_many :ingredients, order: :id
  many_to_many :tags, order: :id

  def summary
    { id: id, title: title, cook: cook.name, ingredients: ingredients.map(&:name), tags: tags.map(&:name) }
  end
end
