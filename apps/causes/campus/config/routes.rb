# frozen_string_literal: true

Rails.application.routes.draw do
  resources :courses, only: :index
  resources :rooms, only: :show
  resources :students, only: :show
end
