# frozen_string_literal: true

# The list of posts, one post with its comments, and the form for a new one.
class PostsController < ApplicationController
  POSTS_A_PAGE = 20

  before_action :require_author, only: %i[new create]

  # Planted: the author of each post is asked for one by one, by the view.
  def index
    @posts = Post.includes(:tags).order(created_at: :desc).limit(POSTS_A_PAGE)
  end

  def show
    @post = Post.includes(:author, :tags).find(params[:id])
    @comments = @post.comments.order(:id)
  end

  def new
    @post = Post.new
  end

  def create
    @post = current_author.posts.new(params.require(:post).permit(:title, :body))
    return render :new, status: :unprocessable_entity unless @post.save

    redirect_to @post, status: :see_other
  end
end
