# frozen_string_literal: true

class BooksController < ApplicationController
  def index
    @books = Book.order(:title).limit(30)
  end
end
