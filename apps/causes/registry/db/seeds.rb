# frozen_string_literal: true

ActiveRecord::Base.transaction do
  Owner.insert_all!((1..600).map { |id| { id: id, name: "Owner #{id}" } })
  Bicycle.insert_all!((1..2_500).map do |id|
    { id: id, owner_id: 1 + (id * 7 % 600), frame: "F#{id * 7_919 % 100_000}", colour: %w[red green blue grey][id % 4] }
  end)
end
ActiveRecord::Base.connection.execute("ANALYZE owners, bicycles")
