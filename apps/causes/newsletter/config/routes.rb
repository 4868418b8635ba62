# frozen_string_literal: true

Rails.application.routes.draw do
  resources :lists, only: :show do
    resources :imports, only: :create
  end
end
