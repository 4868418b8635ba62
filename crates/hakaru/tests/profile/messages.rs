//! Messages of WebSockets, and requests named by the app: each sample has a route.

use crate::of_run::shown;
use crate::support::{Place, Seen};

/// Calls of the route, as counted by the profile.
fn count(seen: &Seen, route: &str) -> Option<u64> {
    let rows = seen.json["requests"].as_array().expect("a row for each");
    let row = rows.iter().find(|row| row["route"] == route)?;
    row["count"].as_u64()
}

#[test]
fn messages_that_websocket_driver_hands_over_are_requests() {
    let place = Place::new(
        r#"
require "websocket/driver"
class Wire
  attr_reader :env, :sent
  def initialize
    @sent = String.new
    @env = { "REQUEST_METHOD" => "GET", "PATH_INFO" => "/rooms/17/chat", "HTTP_CONNECTION" => "Upgrade",
             "HTTP_UPGRADE" => "websocket", "HTTP_SEC_WEBSOCKET_VERSION" => "13",
             "HTTP_SEC_WEBSOCKET_KEY" => ["k" * 16].pack("m0") }
  end
  def write(data) = @sent << data
end
def slow = spin(0.02)
def quick = spin(0.002)
wire = Wire.new
driver = WebSocket::Driver.rack(wire)
driver.on(:message) do |event|
  raise IOError, "refused" if event.data.is_a?(Array)
  JSON.parse(event.data)["type"] == "slow" ? slow : quick
  driver.text("done")
end
driver.start
# A frame of the client: masked, with a mask that changes nothing.
frame = ->(kind, data) { [0x80 | kind, 0x80 | data.bytesize, 0, 0, 0, 0, *data.bytes].pack("C*") }
60.times do |i|
  driver.parse(frame.call(1, JSON.generate(n: i, type: i % 3 == 0 ? "slow" : "quick")))
end
begin
  driver.parse(frame.call(2, "x"))
rescue IOError
  told("refused", 1)
end
told("answers", wire.sent.scan("done").size)
spin(0.1)
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    assert_eq!(seen.truth("answers"), 60.0);
    assert_eq!(
        seen.truth("refused"),
        1.0,
        "what a listener raises comes through"
    );
    assert_eq!(count(&seen, "GET /rooms/:id/chat slow"), Some(20));
    assert_eq!(count(&seen, "GET /rooms/:id/chat quick"), Some(40));
    assert_eq!(count(&seen, "GET /rooms/:id/chat binary"), Some(1));

    let slow = shown(&place, &["--route", "GET /rooms/:id/chat slow"]);
    let text = slow["inclusive"].to_string();
    assert!(
        text.contains("Object#slow") && !text.contains("Object#quick"),
        "{text}"
    );
    let both = seen.inclusive("Object#slow") + seen.inclusive("Object#quick");
    let all = seen.inclusive("Object#spin");
    assert!(
        both > 300.0 && all > both + 50.0,
        "{both} of {all} ms in messages"
    );
}

#[test]
fn what_an_app_calls_a_request_is_one_even_when_it_fails() {
    let place = Place::new(
        r#"
def work = spin(0.01)
threads = 2.times.map do
  Thread.new do
    12.times do |i|
      HakaruAgent.request(i.even? ? "even" : -> { "odd" }) do
        HakaruAgent.request("inner") { work }
        raise ArgumentError if i == 3
        throw :out if i == 5
      end
    rescue ArgumentError, UncaughtThrowError
      told("raised", 1)
    end
  end
end
threads.each(&:join)
told("result", HakaruAgent.request(Object.new) { 7 })
Process.wait(fork { HakaruAgent.request("child") { work } })
"#,
    );
    let seen = place.profile(&["--mode", "wall"]);
    assert_eq!(seen.truth("raised"), 4.0);
    assert_eq!(seen.truth("result"), 7.0);
    let counts = ["even", "odd", "child", "(unnamed)", "inner"].map(|route| count(&seen, route));
    assert_eq!(counts, [Some(12), Some(12), Some(1), Some(1), None]);
    let slowest = shown(&place, &["--route", "odd", "--slow"]);
    assert!(slowest["samples"].as_u64() < seen.json["samples"].as_u64());
}
