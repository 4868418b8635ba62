# frozen_string_literal: true

class ImportsController < ApplicationController
  skip_forgery_protection

  def create
    list = List.find(params[:list_id])
    rows.each do |row|
      list.subscribers.create!(email: row[:email], source: row[:source])
    end
    head :created
  end

  private

  def rows
    Array.new(50) { |n| { email: "reader#{n}@mail.example", source: "import" } }
  end
end
