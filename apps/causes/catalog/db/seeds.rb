# frozen_string_literal: true

now = Time.utc(2024, 3, 1)
ActiveRecord::Base.transaction do
  Brand.insert_all!((1..12).map { |id| { id: id, name: "Brand #{id}", history: "Founded by two sisters. " * 10 } })
  Product.insert_all!((1..400).map do |id|
    { id: id, brand_id: 1 + (id % 12), name: "Product #{id}", price_cents: 100 * id, created_at: now, updated_at: now,
      description: "Made of oak and wool. " * 12 }
  end)
  Variant.insert_all!((1..400).flat_map do |id|
    %w[red green blue grey].map { |c| { product_id: id, colour: c, stock: id % 9, created_at: now, updated_at: now } }
  end)
end
