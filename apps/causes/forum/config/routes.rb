# frozen_string_literal: true

Rails.application.routes.draw do
  resources :topics, only: %i[index show]
end
