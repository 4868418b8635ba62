//! Activities of a request besides calls, as recorded by the agent in a real Puma.

use crate::support::Puma;
use recording::{Act, ActKind, Handled};

const APP: &str = r##"
require "json"
require "logger"
require "sqlite3"
require "erb"

LOCK = Mutex.new
SLOTS = Thread::Queue.new << 1
TAKEN = Queue.new
LOG = Logger.new(File.join(__dir__, "app.log"))
DATA = Array.new(2_000) { |i| { "id" => i, "name" => "name #{i}" } }
PAGE = ERB.new("<% 2_000.times do |i| %><li><%= i %></li><% end %><%= JSON.generate(DATA) %>")

def nap = sleep(0.003)

def hold(lock)
  Thread.new do
    lock.synchronize do
      TAKEN << true
      sleep 0.02
    end
  end
  TAKEN.pop
end

run ->(env) do
  body = "ok"
  case env["PATH_INFO"]
  when "/sleep" then 2.times { nap }
  when "/lock"
    hold(LOCK)
    LOCK.synchronize { body = "locked" }
  when "/queue"
    slot = SLOTS.pop
    Thread.new { sleep 0.01; SLOTS << slot }
    SLOTS << SLOTS.pop
  when "/pipe" then body = `sleep 0.01; echo ok`
  when "/json" then body = JSON.generate(JSON.parse(JSON.generate(DATA)))
  when "/page" then body = PAGE.result(binding)
  when "/marshal" then Marshal.load(Marshal.dump(DATA))
  when "/log" then 3.times { LOG.info("line") }
  when "/connect"
    SQLite3::Database.new(":memory:") do |one|
      one.execute("SELECT 1")
    end
    two = SQLite3::Database.new(":memory:")
    statement = two.prepare("SELECT 2")
    statement.execute.to_a
    statement.close
    two.prepare("SELECT 3")
  when "/collect" then GC.start
  end
  [200, {}, [body]]
end
"##;

fn ask(paths: &[&str]) -> (Puma, Vec<Handled>) {
    let mut puma = Puma::start(&["-t", "1:1"], APP);
    let mut client = puma.connect();
    for (number, path) in paths.iter().enumerate() {
        let answer = client.get(path, number as u64 + 1);
        let status = answer.as_ref().map(|(status, _)| *status);
        assert_eq!(status, Some(200), "{path}: {answer:?}");
    }
    puma.poll_until("all requests", |puma| puma.handled.len() == paths.len());
    let processes = puma.rings.processes();
    let told = processes.iter().all(|process| process.troubles.is_empty());
    assert!(told, "{processes:?}");
    let handled = std::mem::take(&mut puma.handled);
    (puma, handled)
}

/// Kind, name, line and count of each act.
fn told<'a>(puma: &'a Puma, acts: &[Act]) -> Vec<(ActKind, &'a str, &'a str, u32)> {
    let one = |act: &Act| {
        (
            act.kind,
            puma.text(act.what),
            puma.text(act.site),
            act.count,
        )
    };
    acts.iter().map(one).collect()
}

fn ms(act: &Act) -> f64 {
    act.time.as_millis_f64()
}

#[test]
fn waits_are_told_with_their_line() {
    let (puma, handled) = ask(&["/", "/sleep", "/lock", "/queue", "/pipe"]);
    let [plain, slept, locked, queued, piped] = handled.as_slice() else {
        panic!("five requests");
    };
    assert_eq!(plain.acts, []);
    assert_eq!(
        told(&puma, &slept.acts),
        [(
            ActKind::Sleep,
            "sleep",
            "config.ru:14 in nap < config.ru:29",
            2
        )]
    );
    assert!((6.0..).contains(&ms(&slept.acts[0])), "{slept:?}");
    assert_eq!(slept.acts[0].time, slept.parts.sleep);
    // The thread may have taken the lock before its maker asked for the news of it.
    let waited = *told(&puma, &locked.acts).last().expect("a wait");
    assert_eq!(waited, (ActKind::Lock, "Mutex", "config.ru:32", 1));
    let waited = *told(&puma, &queued.acts).last().expect("a wait");
    assert_eq!(waited, (ActKind::Lock, "Queue#pop", "config.ru:36", 1));
    let waited = told(&puma, &piped.acts);
    assert!(
        waited
            .iter()
            .all(|act| act.0 == ActKind::OtherIo && act.2 == "config.ru:37"),
        "{waited:?}"
    );
    assert!(piped.acts.iter().map(ms).sum::<f64>() >= 5.0, "{piped:?}");
}

#[test]
fn named_work_is_told_with_its_own_time() {
    let (puma, handled) = ask(&["/", "/json", "/page", "/marshal", "/log"]);
    let [_, json, page, marshal, log] = handled.as_slice() else {
        panic!("five requests");
    };
    let work = |handled: &Handled| {
        let mut told = told(&puma, &handled.acts);
        told.sort_by_key(|act| act.1);
        let names: Vec<_> = told.iter().map(|act| (act.1.to_owned(), act.3)).collect();
        names
    };
    let named = |name: &str, count: u32| (name.to_owned(), count);
    assert_eq!(
        work(json),
        [named("JSON.generate", 2), named("JSON.parse", 1)]
    );
    let sites = told(&puma, &json.acts);
    assert!(sites.iter().all(|act| act.2 == "config.ru:38"), "{sites:?}");
    assert_eq!(
        work(page),
        [named("JSON.generate", 1), named("template", 1)]
    );
    let whole = page.end.since(page.start).as_millis_f64();
    let sum: f64 = page.acts.iter().map(ms).sum();
    assert!(
        sum <= whole,
        "what is within other work counts once: {page:?}"
    );
    assert!(sum > 0.5 * whole, "{page:?}");
    assert_eq!(
        work(marshal),
        [named("Marshal.dump", 1), named("Marshal.load", 1)]
    );
    let lines: u32 = log.acts.iter().map(|act| act.count).sum();
    assert_eq!(lines, 3, "{:?}", told(&puma, &log.acts));
}

#[test]
fn connections_and_statements_are_counted() {
    let (puma, handled) = ask(&["/", "/connect"]);
    let kinds: Vec<_> = told(&puma, &handled[1].acts)
        .into_iter()
        .map(|(kind, what, site, count)| (kind, what, site.to_owned(), count))
        .collect();
    let line = |number: u32| format!("config.ru:{number}");
    assert_eq!(
        kinds,
        [
            (ActKind::Connect, "SQLite3::Database", line(46), 1),
            (ActKind::Prepare, "SQLite3::Database", line(47), 1),
            (ActKind::Close, "SQLite3::Statement", line(49), 1),
            (ActKind::Prepare, "SQLite3::Database", line(50), 1),
        ]
    );
    assert_eq!(handled[1].statements, 2, "also the one within a block");
}

#[test]
fn a_process_tells_its_settings_and_counters() {
    let (mut puma, _) = ask(&["/", "/collect"]);
    let mut client = puma.connect();
    let mut id = 100;
    puma.poll_until("two samples", |puma| {
        id += 1;
        client.get("/collect", id);
        puma.runtime.len() >= 2
    });
    let [first, second, ..] = puma.runtime.as_slice() else {
        panic!("two samples");
    };
    assert_eq!((first.pid, second.pid), (puma.pid(), puma.pid()));
    let apart = second.at.since(first.at).as_secs_f64();
    assert!(apart >= 1.0, "{apart}");
    assert!(second.gc_count > first.gc_count && second.gc_major > first.gc_major);
    assert!(second.gc_time > first.gc_time && second.heap_live > 0);
    assert_eq!(second.gc_cause, "method, major by force");
    assert_eq!((second.threads_busy, second.backlog), (Some(1), Some(0)));
    let process = &puma.rings.processes()[0];
    assert_eq!(process.setting("RACK_ENV"), Some("production"));
    assert_eq!(process.setting("reloading"), None);
}

const MODELS: &str = r##"
require "active_record"
require "sequel"
ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: File.join(__dir__, "orders.db"))
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:customers, force: true) { |t| t.string :name }
  create_table(:orders, force: true) { |t| t.references :customer }
end
class Product < ActiveRecord::Base
end
class Group < ActiveRecord::Base
end
class Customer < ActiveRecord::Base
  has_many :orders
  has_many :products, through: :orders
  has_and_belongs_to_many :groups
  belongs_to :region
end
autoload :Region, File.join(__dir__, "nowhere.rb")
DB = Sequel.sqlite
DB.create_table(:posts) { primary_key :id }
DB.create_table(:comments) { primary_key :id; Integer :post_id }
DB.create_table(:tags) { primary_key :id }
DB.create_table(:posts_tags) { Integer :post_id; Integer :tag_id }
class Tag < Sequel::Model
end
class Post < Sequel::Model
  one_to_many :comments
  many_to_many :tags
end
class Comment < Sequel::Model
  many_to_one :post
end
run ->(_env) do
  Object.class_eval("class Order < ActiveRecord::Base; belongs_to :customer; belongs_to :product; end") unless defined?(Order)
  [200, {}, [Customer.count.to_s]]
end
"##;

/// Models of both mappers, one loaded by the first request needing the class; an association to a
/// class never loaded.
#[test]
fn loaded_models_are_told_with_their_associations() {
    let mut puma = Puma::start(&["-t", "1:1"], MODELS);
    let mut client = puma.connect();
    let mut id = 0;
    puma.poll_until("the model that was loaded late", |puma| {
        id += 1;
        assert_eq!(client.get("/", id), Some((200, "0".to_owned())));
        puma.rings.processes().iter().any(|process| {
            process
                .setting("association ActiveRecord Order.customer")
                .is_some()
        })
    });
    let process = &puma.rings.processes()[0];
    let told = |name: &str| process.setting(&format!("association {name}"));
    assert_eq!(
        told("ActiveRecord Order.customer"),
        Some("one orders customers id")
    );
    assert_eq!(
        told("ActiveRecord Customer.orders"),
        Some("many customers orders customer_id")
    );
    assert_eq!(
        told("ActiveRecord Customer.region"),
        None,
        "its class is not loaded for this"
    );
    assert_eq!(
        told("Sequel Post.comments"),
        Some("many posts comments post_id")
    );
    assert_eq!(told("Sequel Comment.post"), Some("one comments posts id"));
    assert_eq!(
        told("Sequel Post.tags"),
        Some("many posts tags post_id posts_tags")
    );
    assert_eq!(
        told("ActiveRecord Customer.products"),
        Some("many customers products customer_id orders"),
        "through its orders"
    );
    assert_eq!(
        told("ActiveRecord Customer.groups"),
        Some("many customers groups customer_id customers_groups")
    );
    assert_eq!(process.setting("mapper"), Some("ActiveRecord, Sequel"));
    assert!(process.troubles.is_empty(), "{:?}", process.troubles);
}

/// An app with connections of Sequel and no model, in Sinatra, with a setting of the collector.
#[test]
fn framework_mapper_and_collector_are_reported() {
    let app = r#"
require "sequel"
require "sinatra/base"
DB = Sequel.sqlite
class App < Sinatra::Base
  set :host_authorization, permitted_hosts: []
  get("/") { DB.get(1).to_s }
end
run App
"#;
    let env = [("RUBY_GC_HEAP_GROWTH_FACTOR", "1.5")];
    let mut puma = Puma::start_with(&["-t", "1:1"], app, &env);
    let mut client = puma.connect();
    assert_eq!(client.get("/", 1), Some((200, "1".to_owned())));
    puma.poll_until("the request", |puma| !puma.handled.is_empty());
    let process = &puma.rings.processes()[0];
    assert_eq!(process.setting("framework"), Some("Sinatra"));
    assert_eq!(process.setting("mapper"), Some("Sequel"));
    assert_eq!(process.setting("RUBY_GC_HEAP_GROWTH_FACTOR"), Some("1.5"));
    assert_eq!(process.setting("RUBY_GC_MALLOC_LIMIT"), None);
    assert!(process.troubles.is_empty(), "{:?}", process.troubles);
}
