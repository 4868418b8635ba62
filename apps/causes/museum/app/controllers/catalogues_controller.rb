# frozen_string_literal: true

class CataloguesController < ApplicationController
  def show
    exhibits = Exhibit.where(room: params[:room]).order(:id)
    render json: exhibits.map { |exhibit| exhibit.as_json(methods: :caption) }
  end
end
