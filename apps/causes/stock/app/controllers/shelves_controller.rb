# frozen_string_literal: true

class ShelvesController < ApplicationController
  skip_forgery_protection

  def show
    @shelf = Shelf.find_by!(number: params[:number])
    @items = @shelf.items.order(:position).limit(10)
  end

  def update
    Shelf.find_by!(number: params[:number]).count(params[:counted].to_i)
    head :no_content
  end
end
