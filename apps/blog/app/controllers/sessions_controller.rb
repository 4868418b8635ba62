# frozen_string_literal: true

# Logging in and out. The forms carry Rails' token against forged requests.
class SessionsController < ApplicationController
  def new; end

  def create
    author = Author.authenticate_by(name: params[:name].to_s, password: params[:password].to_s)
    return render :new, status: :unprocessable_entity unless author

    # Another session than the stranger's, whose cookie somebody else may know.
    reset_session
    session[:author_id] = author.id
    redirect_to new_post_path, status: :see_other
  end

  def destroy
    reset_session
    redirect_to root_path, status: :see_other
  end
end
