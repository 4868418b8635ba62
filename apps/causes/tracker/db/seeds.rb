# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Reporter.insert_all!((1..120).map { |id| { id: id, name: "Reporter #{id}" } })
  Milestone.insert_all!((1..12).map { |id| { id: id, title: "Release #{id}" } })
  Label.insert_all!(%w[crash slow wording layout security backend].map { |name| { name: name } })
  Bug.insert_all!((1..1_500).map do |id|
    { id: id, reporter_id: 1 + (id * 11 % 120), milestone_id: 1 + (id % 12), title: "Bug #{id}", closed: (id % 3).zero? }
  end)
  Tagging.insert_all!((1..1_500).flat_map do |id|
    [{ bug_id: id, label_id: 1 + (id % 6) }, { bug_id: id, label_id: 1 + ((id + 2) % 6) }]
  end)
end
