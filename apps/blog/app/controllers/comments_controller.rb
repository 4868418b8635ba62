# frozen_string_literal: true

# Readers' remarks.
class CommentsController < ApplicationController
  # A form that needs no session, so that a page can be the same for everyone.
  skip_forgery_protection

  def create
    comment = Post.find(params[:post_id]).comments.new(params.permit(:name, :body))
    comment.save ? redirect_to(comment.post, status: :see_other) : head(:unprocessable_entity)
  end
end
