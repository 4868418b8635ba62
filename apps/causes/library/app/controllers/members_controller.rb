# frozen_string_literal: true

class MembersController < ApplicationController
  def show
    @member = Member.find(params[:id])
    @loans = @member.loans.where(returned: false).includes(:book)
  end
end
