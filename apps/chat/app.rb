# frozen_string_literal: true

# A chat whose slowness is planted: an application to practise measuring on. README.md lists what
# is wrong with it, and where. Nothing here is meant as an example of how to write one.

require "digest"
require "json"
require "securerandom"
require "sinatra/base"
require_relative "vendor/gems/chat_database/lib/chat_database"
require_relative "lib/channels"
require_relative "lib/dataset"
require_relative "lib/page_helpers"

# All routes.
class Chat < Sinatra::Base
  MESSAGES_MAX = 100
  HISTORY_PAGE_ROWS = 20
  AVATAR_BYTES_MAX = 1_048_576
  CONTENT_TYPES = {
    ".png" => "image/png", ".jpg" => "image/jpeg", ".jpeg" => "image/jpeg", ".gif" => "image/gif"
  }.freeze
  # Planted: a thread of the server is held for so long, doing nothing.
  FETCH_PAUSE_S = 1

  enable :sessions
  # Fixed, so that a session outlives a restart of this app, which guards nothing.
  set :session_secret, Digest::SHA512.hexdigest("the chat's cookies are worth nothing")
  set :public_folder, File.join(__dir__, "public")
  set :views, File.join(__dir__, "views")
  # Answers to any Host, so that it can be loaded under any name and through any proxy.
  set :host_authorization, permitted_hosts: []

  helpers PageHelpers

  helpers do
    def db = @db ||= ChatDatabase.for_request

    def current_user
      return nil unless session[:user_id]

      @current_user ||= db.first("SELECT * FROM users WHERE id = ?", session[:user_id])
    end

    def require_login = current_user || redirect("/login", 303)

    def all_channels = db.rows("SELECT * FROM channel ORDER BY id")

    # The channel whose page this is, beside the list of all.
    def open_channel(id)
      @channels = all_channels
      @channel = @channels.find { |channel| channel["id"] == id } || halt(404)
    end

    def log_in(user_id)
      session[:user_id] = user_id
      redirect "/", 303
    end
  end

  after { @db&.end_request }

  get "/initialize" do
    Dataset.reset(db)
    204
  end

  get "/" do
    redirect "/channel/1", 303 if session[:user_id]
    erb :index
  end

  get "/register" do
    erb :register
  end

  post "/register" do
    name = params["name"].to_s
    password = params["password"].to_s
    halt 400 if name.empty? || password.empty?
    begin
      log_in(register(name, password))
    rescue ChatDatabase::Duplicate
      halt 409
    end
  end

  get "/login" do
    erb :login
  end

  post "/login" do
    user = db.first("SELECT * FROM users WHERE name = ?", params["name"].to_s)
    halt 403 unless user && user["password"] == digest(user["salt"], params["password"].to_s)
    log_in(user["id"])
  end

  get "/logout" do
    session.clear
    redirect "/", 303
  end

  get "/channel/:id" do
    require_login
    open_channel(params["id"].to_i)
    erb :channel
  end

  get "/message" do
    halt 403 unless current_user
    channel_id = params["channel_id"].to_i
    rows = db.rows("SELECT * FROM message WHERE id > ? AND channel_id = ? ORDER BY id DESC LIMIT #{MESSAGES_MAX}",
                   params["last_message_id"].to_i, channel_id)
    messages = rows.reverse.map do |row|
      author = db.first("SELECT name, display_name, avatar_icon FROM users WHERE id = ?", row["user_id"])
      { id: row["id"], user: author, date: shown_date(row["created_at"]), content: row["content"] }
    end
    mark_read(channel_id, rows.first["id"]) if rows.any?
    json messages
  end

  post "/message" do
    user = current_user
    text = params["message"].to_s
    channel_id = params["channel_id"].to_i
    halt 403 if user.nil? || text.empty? || channel_id.zero?
    db.insert("INSERT INTO message (channel_id, user_id, content, created_at) " \
              "VALUES (?, ?, ?, CURRENT_TIMESTAMP)", channel_id, user["id"], text)
    204
  end

  get "/fetch" do
    user_id = session[:user_id]
    halt 403 unless user_id
    sleep FETCH_PAUSE_S
    counts = db.rows("SELECT id FROM channel ORDER BY id").map do |channel|
      read = db.first("SELECT * FROM haveread WHERE user_id = ? AND channel_id = ?", user_id, channel["id"])
      unread =
        if read
          db.first("SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ? AND ? < id",
                   channel["id"], read["message_id"])
        else
          db.first("SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ?", channel["id"])
        end
      { channel_id: channel["id"], unread: unread["cnt"] }
    end
    json counts
  end

  get "/history/:id" do
    require_login
    channel_id = params["id"].to_i
    open_channel(channel_id)
    total = db.first("SELECT COUNT(*) AS cnt FROM message WHERE channel_id = ?", channel_id)["cnt"]
    @last_page = [total.ceildiv(HISTORY_PAGE_ROWS), 1].max
    @page = page_asked(@last_page)
    rows = db.rows("SELECT * FROM message WHERE channel_id = ? ORDER BY id DESC LIMIT ? OFFSET ?",
                   channel_id, HISTORY_PAGE_ROWS, (@page - 1) * HISTORY_PAGE_ROWS)
    @messages = rows.reverse.map do |row|
      author = db.first("SELECT name, display_name, avatar_icon FROM users WHERE id = ?", row["user_id"])
      row.merge("user" => author, "date" => shown_date(row["created_at"]))
    end
    erb :history
  end

  get "/profile/:name" do
    require_login
    @channels = all_channels
    @user = db.first("SELECT * FROM users WHERE name = ?", params["name"]) || halt(404)
    @own = @user["id"] == current_user["id"]
    erb :profile
  end

  post "/profile" do
    user = require_login
    avatar = params["avatar_icon"]
    save_avatar(user, avatar) if avatar.is_a?(Hash) && avatar[:tempfile].size.positive?
    display_name = params["display_name"].to_s
    unless display_name.empty?
      db.run("UPDATE users SET display_name = ? WHERE id = ?", display_name, user["id"])
    end
    redirect "/", 303
  end

  get "/add_channel" do
    require_login
    @channels = all_channels
    erb :add_channel
  end

  post "/add_channel" do
    require_login
    name = params["name"].to_s
    description = params["description"].to_s
    halt 400 if name.empty? || description.empty?
    redirect "/channel/#{Channels.add(db, name: name, description: description)}", 303
  end

  get "/icons/:file" do
    image = db.rows("SELECT * FROM image WHERE name = ?", params["file"]).first
    type = CONTENT_TYPES[File.extname(params["file"])]
    halt 404 unless image && type
    content_type type
    image["data"]
  end

  private

  def register(name, password)
    salt = SecureRandom.alphanumeric(20)
    db.insert("INSERT INTO users (name, salt, password, display_name, avatar_icon, created_at) " \
              "VALUES (?, ?, ?, ?, ?, CURRENT_TIMESTAMP)",
              name, salt, digest(salt, password), name, Dataset::DEFAULT_AVATAR)
  end

  def digest(salt, password) = Digest::SHA1.hexdigest(salt + password)

  def mark_read(channel_id, message_id)
    db.run("INSERT INTO haveread (user_id, channel_id, message_id, updated_at, created_at) " \
           "VALUES (?, ?, ?, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP) " \
           "#{db.on_conflict('user_id, channel_id', %w[message_id updated_at])}",
           current_user["id"], channel_id, message_id)
  end

  def page_asked(last_page)
    page = params["page"] ? Integer(params["page"], 10, exception: false) : 1
    halt 400 unless page&.between?(1, last_page)
    page
  end

  def save_avatar(user, avatar)
    extension = File.extname(avatar[:filename].to_s).downcase
    halt 400 unless CONTENT_TYPES.key?(extension)
    halt 400 if avatar[:tempfile].size > AVATAR_BYTES_MAX
    data = avatar[:tempfile].binmode.read
    name = Digest::SHA256.hexdigest(data) + extension
    db.insert("INSERT INTO image (name, data) VALUES (?, ?)", name, data)
    db.run("UPDATE users SET avatar_icon = ? WHERE id = ?", name, user["id"])
  end
end
