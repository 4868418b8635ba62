# frozen_string_literal: true

Rails.application.routes.draw do
  root "exhibits#index"
  get "plans/:floor.svg", to: "plans#show", format: false
  get "rooms/:room/catalogue", to: "catalogues#show"
end
