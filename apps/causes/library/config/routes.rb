# frozen_string_literal: true

Rails.application.routes.draw do
  resources :members, only: :show
  resources :books, only: :index
end
