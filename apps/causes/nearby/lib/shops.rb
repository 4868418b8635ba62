# frozen_string_literal: true

# All shops are held in memory: there are a few thousand.
class Shops
  KM_PER_DEGREE = 111.3

  def initialize(shops)
    @shops = shops
  end

  def near(latitude, longitude)
    far = @shops.map { |shop| shop.merge(km: distance(shop, latitude, longitude)) }
    far.min_by(8) { |shop| shop[:km] }
  end

  private

  def distance(shop, latitude, longitude)
    x = (shop[:longitude] - longitude) * 0.64
    y = shop[:latitude] - latitude
    (KM_PER_DEGREE * Math.sqrt((x * x) + (y * y))).round(3)
  end
end
