# frozen_string_literal: true

class OrdersController < ApplicationController
  skip_forgery_protection

  def index
    @orders = Order.order(id: :desc).limit(10)
  end

  def create
    order = Order.place(params[:product], params[:cents])
    render json: { paid: order.payment }, status: :created
  end
end
