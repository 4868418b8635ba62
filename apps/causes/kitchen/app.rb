# frozen_string_literal: true

require "json"
require "sinatra/base"
require_relative "models"

# Recipes, the newest first.
class App < Sinatra::Base
  before { content_type :json }

  get "/recipes" do
    recipes = Recipe.reverse(:id).limit(20).all
    JSON.generate(recipes.map(&:summary))
  end

  get "/recipes/:id" do
    JSON.generate(Recipe.with_pk!(params[:id].to_i).summary)
  end
end
