# frozen_string_literal: true

module PostsHelper
  def badge(post)
    content_tag(:span, "##{post.id}", class: "badge")
  end
end
