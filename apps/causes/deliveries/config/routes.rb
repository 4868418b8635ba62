# frozen_string_literal: true

Rails.application.routes.draw do
  root "couriers#index"
  resources :couriers, only: %i[index show]
  resources :deliveries, only: :show
end
