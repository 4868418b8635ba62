# frozen_string_literal: true

class TopicsController < ApplicationController
  def index
    @topics = Topic.order(:id).limit(25)
  end

  def show
    @topic = Topic.find(params[:id])
    @posts = @topic.posts.order(:id)
  end
end
