# frozen_string_literal: true

# 500 posts of 50 authors, 20 comments each, three tags each. The same rows every time.
# All authors have the password "correct horse".
POSTS = 500
AUTHORS = 50
COMMENTS_A_POST = 20
TAGS = %w[ruby rails sql http linux testing speed memory threads queues].freeze
WORDS = %w[time waits while threads share one lock and every request pays for what it never asked].freeze
# A digest made anew has another salt each time.
PASSWORD_DIGEST = "$2a$12$AkZOG85I12UPk.NKr4qYfOaRUYECXD.T0Oa3goCrf2hhLy87Hsh8W"
STARTED_AT = Time.utc(2024, 8, 1)

random = Random.new(20_240_801)
text = ->(words) { Array.new(words) { WORDS.sample(random: random) }.join(" ").capitalize }

ActiveRecord::Base.transaction do
  [Tagging, Tag, Comment, Post, Author].each(&:delete_all)
  Author.insert_all!((1..AUTHORS).map { |id| { id: id, name: "Author #{id}", password_digest: PASSWORD_DIGEST } })
  Tag.insert_all!(TAGS.each_with_index.map { |name, index| { id: index + 1, name: name } })
  Post.insert_all!((1..POSTS).map do |id|
    { id: id, author_id: 1 + (id % AUTHORS), title: "Post #{id}: #{text.call(4)}", body: text.call(150),
      created_at: STARTED_AT + id.hours }
  end)
  (1..POSTS).each_slice(100) do |posts|
    Comment.insert_all!(posts.flat_map do |post|
      Array.new(COMMENTS_A_POST) do |index|
        { post_id: post, name: "Reader #{index}", body: text.call(12), created_at: STARTED_AT + post.hours }
      end
    end)
  end
  Tagging.insert_all!((1..POSTS).flat_map do |post|
    [0, 3, 7].map { |step| { post_id: post, tag_id: 1 + ((post + step) % TAGS.size) } }
  end)
end
