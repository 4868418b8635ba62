# frozen_string_literal: true

# What the pages need to show values.
module PageHelpers
  def h(text) = Rack::Utils.escape_html(text.to_s)

  # "2017/10/21 09:00:00". Some drivers give a Time and some a String; both begin the same way.
  def shown_date(value) = value.to_s[0, 19].tr("-", "/")

  def json(value)
    content_type :json
    JSON.generate(value)
  end

  def icon_path(user) = "/icons/#{h(user['avatar_icon'])}"

  def profile_path(user) = "/profile/#{Rack::Utils.escape_path(user['name'])}"
end
