# frozen_string_literal: true

List.insert_all!((1..10).map { |id| { id: id, name: "List #{id}" } })
