# frozen_string_literal: true

Rails.application.routes.draw do
  resources :projects, only: %i[index show]
  resources :people, only: :show
end
