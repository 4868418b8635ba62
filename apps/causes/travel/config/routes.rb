# frozen_string_literal: true

Rails.application.routes.draw do
  resources :hotels, only: %i[index show]
  resources :bookings, only: :index
end
