# frozen_string_literal: true

started = Time.utc(2024, 3, 1)
ActiveRecord::Base.transaction do
  Customer.insert_all!((1..300).map { |id| { id: id, name: "Customer #{id}" } })
  Agent.insert_all!((1..20).map { |id| { id: id, name: "Agent #{id}" } })
  Ticket.insert_all!((1..2_000).map do |id|
    { id: id, customer_id: 1 + (id * 7 % 300), agent_id: 1 + (id % 20), subject: "Ticket #{id}",
      state: id.odd? ? "open" : "closed", created_at: started + id.minutes }
  end)
  (1..2_000).each_slice(500) do |tickets|
    Comment.insert_all!(tickets.flat_map do |ticket|
      Array.new(4) { |n| { ticket_id: ticket, author: "Reader #{n % 3}", text: "Has anyone tried step #{n}?" } }
    end)
  end
end
