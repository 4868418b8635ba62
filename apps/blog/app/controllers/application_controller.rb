# frozen_string_literal: true

# What all controllers share.
class ApplicationController < ActionController::Base
  private

  # The author who is logged in, nobody otherwise. The session is read only where this is asked,
  # so that pages for readers set no cookie.
  def current_author
    @current_author ||= Author.find_by(id: session[:author_id])
  end

  def require_author
    redirect_to new_session_path, status: :see_other unless current_author
  end
end
