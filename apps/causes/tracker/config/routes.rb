# frozen_string_literal: true

Rails.application.routes.draw do
  resources :bugs, only: %i[index show]
end
