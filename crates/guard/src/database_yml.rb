# Prints the databases of one environment in config/database.yml: name, adapter, address, and whether the address stands
# in the "file" or in a "variable"; separated by tabs.
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
# As ActiveRecord::DatabaseConfigurations: a `url` in the file is used before any variable; DATABASE_URL is for `primary`
# alone; and the keys of the file stay where a URL has none, so that of postgres:///name the host is the file's.
databases.each do |name, config|
  variable = ENV["#{name.to_s.upcase}_DATABASE_URL"]
  variable ||= ENV["DATABASE_URL"] if name == "primary"
  url = config["url"] || variable
  adapter = url ? url[/\A\w+/] : config["adapter"]
  names_host = url && (url[%r{\A[^:]+://(?>(?:[^/@]*@)?)([^/:?]+)}, 1] || url.match?(/[?&]host(addr)?=/))
  is_file = adapter.to_s.start_with?("sqlite")
  host = config["hostaddr"] || (config["host"] unless names_host) unless url && is_file
  source = !config["url"] && variable && !host ? "variable" : "file"
  puts [name, adapter, host || url, source].map { |word| word.to_s.gsub(/\s/, " ") }.join("\t")
end
