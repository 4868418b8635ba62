# frozen_string_literal: true

Rails.application.routes.draw do
  resources :events, only: :show do
    resources :reservations, only: :create
  end
end
