# frozen_string_literal: true

require "json"
require_relative "lib/timesheet"

# Hours of a team, for people and for the payroll.
class App
  def call(env)
    case env["PATH_INFO"]
    when %r{\A/teams/(\d+)\.csv\z} then answer("text/csv", Timesheet.new($1.to_i).to_csv)
    when %r{\A/teams/(\d+)\z} then answer("application/json", JSON.generate(Timesheet.new($1.to_i).summary))
    else [404, { "content-type" => "text/plain" }, ["no such page"]]
    end
  end

  private

  def answer(type, text)
    [200, { "content-type" => type }, [text]]
  end
end
