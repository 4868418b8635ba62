# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Topic.insert_all!((1..50).map { |id| { id: id, title: "Topic #{id}" } })
  (1..50).each do |topic|
    Post.insert_all!(Array.new(150) do |n|
      { topic_id: topic, author: "Member #{n % 17}", text: "I had the same on a rainy day, number #{n}." }
    end)
  end
end
