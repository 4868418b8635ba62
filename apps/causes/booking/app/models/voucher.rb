# frozen_string_literal: true

class Voucher
  # The partner's library takes a moment to sign.
  def self.sign(event)
    sleep 0.02
    Digest::SHA256.hexdigest("#{event.id}-#{event.name}")
  end
end
