# frozen_string_literal: true

# What all models share.
class ApplicationRecord < ActiveRecord::Base
  primary_abstract_class
end
