# Prints the databases of one environment in config/database.yml: name, adapter and address, separated by tabs.
# Run with the app's variables and without the app: database_yml.rb FILE ENVIRONMENT
require "erb"
require "yaml"

# Stands for whatever is asked of the app: its text is a host that no machine has.
class Unknown < BasicObject
  def method_missing(*) = self
  def respond_to_missing?(*) = true
  def to_s = "(credentials)"
  def to_str = "(credentials)"
end

module Rails
  def self.env = ARGV[1]
  def self.method_missing(*) = Unknown.new
  def self.respond_to_missing?(*) = true
end

text = ERB.new(File.read(ARGV[0]), trim_mode: "-").result
all = YAML.respond_to?(:unsafe_load) ? YAML.unsafe_load(text) : YAML.load(text)
chosen = (all || {})[ARGV[1]] || {}
chosen = { "url" => chosen } if chosen.is_a?(String)
several = !chosen.empty? && chosen.values.all?(Hash)
databases = several ? chosen : { "primary" => chosen }
databases.each_with_index do |(name, config), index|
  url = ENV["#{name.to_s.upcase}_DATABASE_URL"]
  url ||= ENV["DATABASE_URL"] if index.zero? || name == "primary"
  url ||= config["url"]
  adapter = url ? url[/\A\w+/] : config["adapter"]
  address = url || config["hostaddr"] || config["host"]
  puts [name, adapter, address].map { |word| word.to_s.gsub(/\s/, " ") }.join("\t")
end
