# frozen_string_literal: true

due = Date.new(2024, 3, 1)
ActiveRecord::Base.transaction do
  Person.insert_all!((1..200).map { |id| { id: id, name: "Person #{id}" } })
  Project.insert_all!((1..150).map { |id| { id: id, owner_id: 1 + (id % 200), name: "Project #{id}" } })
  (1..24_000).each_slice(4_000) do |tasks|
    Task.insert_all!(tasks.map do |id|
      { id: id, project_id: id <= 20_000 ? 31 + (id % 120) : 1 + (id % 150), person_id: 1 + (id % 200), title: "Task #{id}",
        due_on: due + (id % 90), done: (id % 3).zero? }
    end)
  end
end
