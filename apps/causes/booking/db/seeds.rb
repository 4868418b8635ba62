# frozen_string_literal: true

Event.insert_all!((1..20).map { |id| { id: id, name: "Concert #{id}" } })
