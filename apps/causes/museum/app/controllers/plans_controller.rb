# frozen_string_literal: true

class PlansController < ApplicationController
  def show
    plan = Rails.root.join("app/assets/plans/#{params[:floor].to_i}.svg").read
    render body: plan, content_type: "image/svg+xml"
  end
end
