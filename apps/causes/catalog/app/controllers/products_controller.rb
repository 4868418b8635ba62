# frozen_string_literal: true

class ProductsController < ApplicationController
  # The list shows a name and a price for each product.
  def index
    products = Product.includes(:brand, :variants).order(:name).limit(60)
    render json: products.as_json(include: %i[brand variants])
  end

  def show
    product = Product.find(params[:id])
    render json: product.as_json(only: %i[id name price_cents])
  end
end
