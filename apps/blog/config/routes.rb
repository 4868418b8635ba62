# frozen_string_literal: true

Rails.application.routes.draw do
  root "posts#index"
  resource :session, only: %i[new create destroy]
  resources :posts, only: %i[index show new create] do
    resources :comments, only: :create
  end
  resources :tags, only: :show
end
