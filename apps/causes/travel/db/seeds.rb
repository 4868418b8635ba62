# frozen_string_literal: true

ActiveRecord::Base.transaction do
  City.insert_all!((1..40).map { |id| { id: id, name: "City #{id}" } })
  Hotel.insert_all!((1..150).map { |id| { id: id, city_id: 1 + (id % 40), name: "Hotel #{id * 37 % 1_000}", cents: 6_000 + (id * 10) } })
  Picture.insert_all!((0...300).map { |n| { hotel_id: 1 + (n / 2), path: "/pictures/#{n}.jpg" } })
  Review.insert_all!((0...900).map { |n| { hotel_id: 1 + (n % 150), stars: 1 + (n * 7 % 5) } })
end
ActiveRecord::Base.connection.execute(<<~SQL)
  INSERT INTO bookings (hotel_id, mail, starts_on, nights)
  SELECT 1 + seq % 150, CONCAT('guest', seq % 9000, '@mail.example'), '2024-03-01' + INTERVAL seq % 365 DAY, 1 + seq % 9
  FROM seq_1_to_50000
SQL
ActiveRecord::Base.connection.execute("ANALYZE TABLE bookings")
