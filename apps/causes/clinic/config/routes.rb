# frozen_string_literal: true

Rails.application.routes.draw do
  root "appointments#index"
  resources :appointments, only: %i[index show create]
  resources :doctors, only: :show
end
