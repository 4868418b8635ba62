# frozen_string_literal: true

# The latest posts under a tag.
class TagsController < ApplicationController
  POSTS_A_PAGE = 10

  def show
    @tag = Tag.find(params[:id])
    @posts = @tag.posts.includes(:author, :tags).order(created_at: :desc).limit(POSTS_A_PAGE)
  end
end
