# frozen_string_literal: true

class HotelSerializer
  def initialize(hotel)
    @hotel = hotel
  end

  def to_h
    { id: @hotel.id, name: @hotel.name, city: @hotel.city.name, picture: @hotel.pictures.map(&:path).first, stars: stars }
  end

  private

  def stars
    reviews = @hotel.reviews.to_a
    (reviews.sum(&:stars).to_f / reviews.size).round(1)
  end
end
