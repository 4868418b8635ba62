# frozen_string_literal: true

Rails.application.routes.draw do
  root "posts#index"
  resources :posts, only: %i[index show] do
    resources :comments, only: :create
  end
  resources :tags, only: :show
end
