//! Causes inside an app: named work, garbage, memory, responses, cores.

use crate::small::{Small, check, check_no_other};

/// An app with named work, each kind on a separate route.
const WORK: &str = r#"
require "json"
require "logger"

LOG = Logger.new(File.join(__dir__, "app.log"))
DATA = Array.new(300) { |i| { "id" => i, "name" => "name #{i}" } }
TEXT = JSON.generate(DATA)
CACHED = Marshal.dump(DATA)

run ->(env) do
  case env["PATH_INFO"]
  when "/json" then 8.times { JSON.generate(JSON.parse(TEXT)) }
  when "/marshal" then 9.times { Marshal.load(CACHED) }
  when "/log" then 150.times { |i| LOG.info("line #{i}") }
  when "/collect" then GC.start
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

/// An app with a page from a template.
const PAGE: &str = r#"
require "erb"

ROWS = Array.new(300) { |i| "name #{i}" }
LIST = ERB.new("<% ROWS.each do |row| %><li><%= row %></li><% end %>")

run ->(_env) { [200, { "cache-control" => "no-store" }, [LIST.result(binding)]] }
"#;

/// An app with reserved and never used address space, up to 95 % and more of the process's limit.
const RESERVED: &str = r#"
limit, = Process.getrlimit(:AS)
used = -> { File.read("/proc/self/status")[/VmSize:\s+(\d+)/, 1].to_i * 1024 }
KEPT = []
KEPT << String.new(capacity: 64 << 20) while used.call < 0.95 * limit

run ->(_env) { [200, { "cache-control" => "no-store" }, ["kept"]] }
"#;

/// An app with a framework in development, a far too large session, and connections closed after
/// each use.
const FRAMEWORK: &str = r#"
require "sinatra/base"

class App < Sinatra::Base
  set :host_authorization, permitted_hosts: []
  set :session_secret, "s" * 64
  enable :sessions

  get "/" do
    session[:visits] = (session[:visits] || 0) + 1
    session[:filler] = "x" * 1_500
    headers "connection" => "close", "cache-control" => "no-store"
    "seen #{session[:visits]} times"
  end
end

run App
"#;

/// An app with long text, on one route uncompressed and on another compressed for each response.
const TEXT: &str = r#"
require "rack"

TEXT = Array.new(20_000) { |i| "line #{i} #{(i * 7919) % 10_007}\n" }.join
ANSWER = ->(_env) { [200, { "content-type" => "text/plain", "cache-control" => "no-store" }, [TEXT]] }

map("/plain") { run ANSWER }
map("/packed") do
  use Rack::Deflater
  run ANSWER
end
"#;

/// An app with leaks of memory and files, and a wait for a program.
const KEPT: &str = r#"
FILES = Array.new(230) { File.open("/dev/null") }
KEPT = []

run ->(env) do
  case env["PATH_INFO"]
  when "/keep" then KEPT << ("x" * 1_000_000)
  when "/ask" then system("sleep", "0.03")
  end
  [200, { "cache-control" => "no-store" }, [env["PATH_INFO"]]]
end
"#;

/// Computes and never waits.
const BURN: &str = r#"
run ->(_env) do
  200_000.times { |i| i * 2 }
  [200, { "cache-control" => "no-store" }, ["done"]]
end
"#;

#[test]
fn work_that_is_known_by_name_is_found_with_its_line() {
    // Several at once would hand the GVL to each other with each line of the log, and wait for it
    // most of the time.
    let json = Small::alone(WORK, &["/json", "/marshal", "/log"]).json();
    check(&json, "json-share", "config.ru:12");
    check(&json, "marshal-share", "config.ru:13");
    check(&json, "logging", "config.ru:14");
}

#[test]
fn templates_are_a_hint() {
    let json = Small::alone(PAGE, &["/"]).json();
    check(&json, "template-share", "config.ru:7");
    check_no_other(&json, &[]);
}

#[test]
fn garbage_collection_is_found_with_what_asks_for_it() {
    let json = Small::new(WORK, &["/collect"]).json();
    check(&json, "gc-share", "GC.start");
}

#[test]
fn a_framework_in_development_with_sessions_and_without_keep_alive() {
    let json = Small {
        environment: "development",
        ..Small::new(FRAMEWORK, &["/"])
    }
    .json();
    check(&json, "development-mode", "development");
    check(&json, "session-share", "session commit");
    check(&json, "keep-alive-off", "100%");
}

#[test]
fn text_that_is_not_compressed_and_text_that_is_compressed_in_the_app() {
    let text = Small::alone(TEXT, &["/plain", "/packed"]);
    let json = Small {
        header: "Accept-Encoding: gzip",
        ..text
    }
    .json();
    check(&json, "compression-missing", "GET /plain");
    check(&json, "compression-cpu", "GET /packed");
    check_no_other(&json, &["compression-missing", "compression-cpu"]);
    // Who is not asked to compress may well do it for others.
    let json = Small::alone(TEXT, &["/plain"]).json();
    check(&json, "compression-missing", "no flow offered");
    check_no_other(&json, &[]);
}

/// Memory must grow for 15 s before the finding, so the run is long.
#[test]
fn memory_that_only_grows_files_that_stay_open_and_a_program_that_is_waited_for() {
    let json = Small {
        puma: "ulimit -n 256 && exec puma -q -t 4:4",
        load: "rate = 10\nduration = \"20s\"",
        ..Small::new(KEPT, &["/keep", "/ask"])
    }
    .json();
    check(&json, "memory-growth", "grows by");
    check(&json, "subprocess", "a subprocess at config.ru:8");
    check(&json, "fd-limit", "of 256 files");
    check_no_other(&json, &["memory-growth", "subprocess", "fd-limit"]);
}

#[test]
fn address_space_near_its_limit() {
    let json = Small {
        // 4 GiB: what is left of it is enough for threads and their arenas.
        puma: "ulimit -v 4194304 && exec puma -q -t 1:1",
        ..Small::alone(RESERVED, &["/"])
    }
    .json();
    check(&json, "memory-limit", "of 4,096 MiB of address space");
    check_no_other(&json, &["memory-limit"]);
}

#[test]
fn more_workers_than_cores_wait_for_one() {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // So many that other programs get little of the cores, for so long that the host is sampled
    // several times.
    let workers = 4 * cores;
    let puma = format!("puma -q -w {workers} -t 1:1");
    let load = format!("connections = {workers}\nduration = \"6s\"");
    let json = Small {
        puma: &puma,
        load: &load,
        ..Small::new(BURN, &["/"])
    }
    .json();
    check(&json, "cpu-wait", &format!("-w {cores}"));
    // Where other programs take the cores the app does not.
    let app = json["host"]["processes"].as_array().expect("processes");
    let app = app.iter().find(|used| used["role"] == "app");
    let used = app.and_then(|used| used["cpu_cores"].as_f64());
    if used.expect("the app was seen") >= 0.95 * cores as f64 {
        check(&json, "cpu-saturated", "the app uses");
    }
    check_no_other(&json, &["cpu-wait", "cpu-saturated"]);
}
