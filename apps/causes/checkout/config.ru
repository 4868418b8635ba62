# frozen_string_literal: true

require_relative "config/environment"
require_relative "lib/payment_service"

PaymentService.start
run Rails.application
