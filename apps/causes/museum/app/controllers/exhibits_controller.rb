# frozen_string_literal: true

class ExhibitsController < ApplicationController
  def index
    @exhibits = Exhibit.order(acquired_at: :desc).limit(15)
  end
end
