# frozen_string_literal: true

class TicketsController < ApplicationController
  def index
    @tickets = Ticket.open.limit(40)
  end

  def show
    @ticket = Ticket.find(params[:id])
  end
end
