# frozen_string_literal: true

Rails.application.routes.draw do
  resources :shelves, only: %i[show update], param: :number
end
