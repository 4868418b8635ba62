# frozen_string_literal: true

# The list of posts, and one post with its comments.
class PostsController < ApplicationController
  POSTS_A_PAGE = 20

  # Planted: the author of each post is asked for one by one, by the view.
  def index
    @posts = Post.includes(:tags).order(created_at: :desc).limit(POSTS_A_PAGE)
  end

  def show
    @post = Post.includes(:author, :tags).find(params[:id])
    @comments = @post.comments.order(:id)
  end
end
