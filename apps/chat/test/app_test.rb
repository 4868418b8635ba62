# frozen_string_literal: true

# Every route of the chat, asked over HTTP. Run: `ruby test/app_test.rb`, with DATABASE_URL for a server.

require "digest"
require "json"
require "minitest/autorun"
require "securerandom"
require_relative "running_chat"
require_relative "../lib/seed/feeds"
require_relative "../lib/seed/people"
require_relative "../lib/seed/pictures"

CHAT = RunningChat.new.start
Minitest.after_run { CHAT.stop }

class AppTest < Minitest::Test
  def teardown
    refute_match(/Error|Exception/, CHAT.log, "the app logged an error") unless failures.any?
  end

  def anonymous = Browser.new(CHAT.port)

  def user(id)
    name = People.name(id)
    anonymous.tap { |browser| check(303, browser.post("/login", name: name, password: People.password(name))) }
  end

  def check(status, answer, location: nil)
    assert_equal status.to_s, answer.code
    assert_equal location, URI(answer["Location"]).path if location
    answer
  end

  def messages(browser, channel, after: 0)
    JSON.parse(check(200, browser.get("/message", channel_id: channel, last_message_id: after)).body)
  end

  def unread(browser) = JSON.parse(check(200, browser.get("/fetch")).body).to_h { |row| row.values_at("channel_id", "unread") }

  def say(browser, channel, text) = check(204, browser.post("/message", channel_id: channel, message: text))

  def picture(bytes) = Pictures.png(Random.new, bytes: bytes)

  def test_who_is_not_logged_in_is_sent_away
    check(200, anonymous.get("/"))
    ["/channel/1", "/history/1", "/profile/x", "/add_channel"].each do |path|
      check(303, anonymous.get(path), location: "/login")
    end
    check(303, anonymous.post("/profile", display_name: "x"), location: "/login")
    check(303, anonymous.post("/add_channel", name: "x", description: "x"), location: "/login")
    check(403, anonymous.get("/message", channel_id: 1, last_message_id: 0))
    check(403, anonymous.post("/message", channel_id: 1, message: "x"))
    check(403, anonymous.get("/fetch"))
  end

  def test_logging_in_and_out
    browser = user(1)
    check(303, browser.get("/"), location: "/channel/1")
    check(303, browser.get("/logout"), location: "/")
    check(200, browser.get("/"))
    check(200, browser.get("/login"))
    check(403, browser.post("/login", name: People.name(1), password: "wrong"))
    check(403, browser.post("/login", name: "nobody", password: "wrong"))
    check(403, browser.post("/login", {}))
  end

  def test_registering
    name = "new-#{SecureRandom.uuid}"
    browser = anonymous
    check(200, browser.get("/register"))
    check(303, browser.post("/register", name: name, password: "secret"), location: "/")
    page = check(200, browser.get("/profile/#{name}")).body
    assert_includes page, "/icons/default.png"
    assert_includes page, "<form"
    check(409, anonymous.post("/register", name: name, password: "other"))
    check(400, anonymous.post("/register", name: "", password: "x"))
    check(400, anonymous.post("/register", name: "x", password: ""))
    check(303, anonymous.post("/login", name: name, password: "secret"))
  end

  def test_channels
    browser = user(2)
    page = check(200, browser.get("/channel/3")).body
    assert_includes page, ">harbour-1<"
    check(404, browser.get("/channel/99999"))
    check(200, browser.get("/add_channel"))
    check(400, browser.post("/add_channel", name: "x", description: ""))
    check(400, browser.post("/add_channel", name: "", description: "x"))
    added = check(303, browser.post("/add_channel", name: "<new>", description: "Words & more"))
    page = check(200, browser.get(URI(added["Location"]).path)).body
    assert_includes page, "&lt;new&gt;"
    assert_includes page, "Words &amp; more"
  end

  def test_messages_are_the_newest_hundred_in_order
    browser = user(3)
    texts = Array.new(101) { SecureRandom.uuid }
    texts.each { |text| say(browser, 4, text) }
    seen = messages(browser, 4)
    assert_equal texts.last(100), seen.map { |message| message["content"] }
    assert_equal seen.map { |message| message["id"] }.sort, seen.map { |message| message["id"] }
    assert_equal %w[id user date content], seen.last.keys
    assert_equal People.name(3), seen.last.dig("user", "name")
    assert_match(%r{\A\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\z}, seen.last["date"])
    assert_equal texts.last(3), messages(browser, 4, after: seen[-4]["id"]).map { |message| message["content"] }
    check(403, browser.post("/message", channel_id: 4, message: ""))
    check(403, browser.post("/message", message: "no channel"))
  end

  def test_unread_counts
    reader = user(4)
    silent = user(5)
    messages(reader, 5)
    before = unread(silent)
    2.times { say(user(6), 5, SecureRandom.uuid) }
    assert_equal 2, unread(reader)[5]
    assert_equal before[5] + 2, unread(silent)[5]
    messages(reader, 5)
    assert_equal 0, unread(reader)[5]
  end

  def test_fetch_takes_a_second
    browser = user(7)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    unread(browser)
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :>=, 1
  end

  def test_history_pages
    browser = user(8)
    texts = Array.new(21) { SecureRandom.uuid }
    texts.each { |text| say(browser, 6, text) }
    page = check(200, browser.get("/history/6")).body
    assert_equal 20, page.scan('<li class="message"').size
    assert_equal texts.last(20), page.scan(/<p>([0-9a-f-]{36})</).flatten
    assert_includes check(200, browser.get("/history/6", page: 2)).body, texts.first
    last = page[/last-page" data-page="(\d+)"/, 1].to_i
    refute_includes check(200, browser.get("/history/6", page: last)).body, 'rel="next"'
    [0, -1, last + 1, "x", ""].each { |wrong| check(400, browser.get("/history/6", page: wrong)) }
  end

  def test_history_of_an_empty_channel_has_one_page
    browser = user(8)
    id = check(303, browser.post("/add_channel", name: "empty", description: "x"))["Location"][/\d+\z/]
    refute_includes check(200, browser.get("/history/#{id}")).body, '<li class="message"'
    check(400, browser.get("/history/#{id}", page: 2))
  end

  def test_profile_shows_the_new_name_and_picture_at_once
    browser = user(9)
    bytes = picture(300_000)
    name = "#{Digest::SHA256.hexdigest(bytes)}.png"
    check(303, browser.upload("/profile", { display_name: "Nine & more" }, [[:avatar_icon, "me.PNG", bytes]]), location: "/")
    page = check(200, browser.get("/profile/#{People.name(9)}")).body
    assert_includes page, "Nine &amp; more"
    assert_includes page, "/icons/#{name}"
    icon = check(200, browser.get("/icons/#{name}"))
    assert_equal Digest::SHA256.hexdigest(bytes), Digest::SHA256.hexdigest(icon.body)
    assert_equal "image/png", icon["Content-Type"]
    assert_nil icon["Cache-Control"]
  end

  def test_profile_of_others_has_no_form
    page = check(200, user(10).get("/profile/#{People.name(11)}")).body
    refute_includes page, "<form"
    check(404, user(10).get("/profile/nobody"))
  end

  def test_profile_refuses_other_files_and_large_ones
    browser = user(12)
    check(400, browser.upload("/profile", {}, [[:avatar_icon, "me.bin", "x" * 10]]))
    check(400, browser.upload("/profile", {}, [[:avatar_icon, "me.png", "x" * 1_048_577]]))
    check(303, browser.upload("/profile", {}, [[:avatar_icon, "me.png", "x" * 1_048_576]]))
    check(303, browser.upload("/profile", { display_name: "Twelve" }, [[:avatar_icon, "", ""]]))
    assert_includes check(200, browser.get("/profile/#{People.name(12)}")).body, "Twelve"
  end

  def test_icons
    check(200, anonymous.get("/icons/default.png"))
    check(404, anonymous.get("/icons/nothing.png"))
    name = check(200, user(13).get("/profile/#{People.name(13)}")).body[%r{/icons/([0-9a-f]{64})\.png}, 1]
    assert_equal name, Digest::SHA256.hexdigest(check(200, anonymous.get("/icons/#{name}.png")).body)
  end

  def test_static_files_carry_no_cache_control
    files = Dir.glob("{css,js,fonts}/*", base: File.join(RunningChat::ROOT, "public")) + ["favicon.ico"]
    assert_equal 12, files.size
    flow = File.read(File.join(RunningChat::ROOT, "flows", "read.hurl"))
    files.each do |file|
      answer = check(200, anonymous.get("/#{file}"))
      assert_nil answer["Cache-Control"]
      assert_includes flow, "/#{file}\nHTTP 200\n[Asserts]\nsha256 == hex,#{Digest::SHA256.hexdigest(answer.body)};"
    end
  end

  def test_feeds_hold_seeded_users
    Feeds.texts.each do |file, text|
      assert_equal text, File.read(File.join(RunningChat::ROOT, "flows", file)), "run ruby seed.rb --feeds"
    end
  end
end

# These put the database back, so nothing else may run meanwhile (and nothing does: no parallel tests).
class ResetTest < Minitest::Test
  def setup
    @name = "gone-#{SecureRandom.uuid}"
    @browser = Browser.new(CHAT.port)
    @browser.post("/register", name: @name, password: "x")
    @browser.post("/add_channel", name: @name, description: "x")
    @browser.post("/message", channel_id: 1, message: @name)
    @browser.upload("/profile", {}, [[:avatar_icon, "me.png", "x" * 10]])
  end

  def login(name, password) = @browser.tap { |browser| browser.post("/login", name: name, password: password) }

  def seeded = login(People.name(1), People.password(People.name(1)))

  def channel_ids = JSON.parse(seeded.get("/fetch").body).map { |row| row["channel_id"] }

  def assert_as_seeded
    assert_equal "403", Browser.new(CHAT.port).post("/login", name: @name, password: "x").code
    refute_includes seeded.get("/message", channel_id: 1, last_message_id: 0).body, @name
    assert_equal "404", @browser.get("/icons/#{Digest::SHA256.hexdigest('x' * 10)}.png").code
  end

  def test_initialize
    assert_equal "204", @browser.get("/initialize").code
    assert_as_seeded
    assert_equal (1..10).to_a, channel_ids
  end

  def test_reset_adds_ninety_channels_and_restores_profiles
    avatar = -> { seeded.get("/profile/#{People.name(1)}").body[%r{/icons/(\w+)}, 1] }
    CHAT.seed("--reset")
    before = avatar.call
    @browser.upload("/profile", { display_name: "changed" }, [[:avatar_icon, "me.png", "y"]])
    refute_equal before, avatar.call
    2.times { CHAT.seed("--reset") }
    assert_as_seeded
    assert_equal before, avatar.call
    assert_equal (1..100).to_a, channel_ids
  end
end
