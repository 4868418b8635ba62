# frozen_string_literal: true

Rails.application.routes.draw do
  root "bicycles#index"
  resources :bicycles, only: %i[index show]
  resources :owners, only: :show
end
