//! Ruby and the app.

use doctor::Snapshot;
use doctor::snapshot::{App, Origin, Ruby};

use crate::Case;

fn ruby(s: &mut Snapshot) -> &mut Ruby {
    s.ruby.as_mut().expect("a Ruby")
}

fn app(s: &mut Snapshot) -> &mut App {
    s.app.as_mut().expect("an app")
}

fn env(s: &mut Snapshot, name: &str, value: &str) {
    s.process.env.insert(name.to_owned(), value.to_owned());
}

fn gem(s: &mut Snapshot, name: &str, version: &str) {
    app(s).gems.insert(name.to_owned(), version.to_owned());
}

fn production(s: &mut Snapshot, name: &str, value: &str) {
    let settings = &mut app(s).production;
    settings.insert(format!("config.{name}"), value.to_owned());
}

/// The cases.
pub const CASES: &[Case] = &[
    (
        "ruby.end-of-life",
        |s| ruby(s).version = "3.1.6".to_owned(),
        |s| ruby(s).version = "3.3.0".to_owned(),
    ),
    (
        "ruby.yjit-not-built",
        |s| ruby(s).yjit_built = false,
        |s| {
            ruby(s).yjit_built = false;
            ruby(s).version = "3.1.2".to_owned();
        },
    ),
    (
        "ruby.yjit-not-built",
        |s| ruby(s).yjit_built = false,
        // Has a compiler of its own.
        |s| {
            ruby(s).yjit_built = false;
            ruby(s).description = "truffleruby 25.0.0, like ruby 3.4.7".to_owned();
        },
    ),
    (
        "ruby.malloc-arenas",
        |s| {
            s.process.env.remove("MALLOC_ARENA_MAX");
        },
        |s| {
            s.process.env.remove("MALLOC_ARENA_MAX");
            ruby(s).description = "ruby 3.4.7 +PRISM [x86_64-linux-musl]".to_owned();
        },
    ),
    (
        "app.threads-many",
        |s| app(s).threads = Some(32),
        |s| {
            app(s).threads = Some(32);
            ruby(s).description = "jruby 10.0.2.0 (3.4.2)".to_owned();
        },
    ),
    (
        "ruby.yjit-off",
        |s| {
            ruby(s).yjit_on = false;
            gem(s, "rails", "7.1.0");
        },
        // This Rails switches it on itself.
        |s| ruby(s).yjit_on = false,
    ),
    (
        "ruby.unoptimised",
        |s| ruby(s).cflags = "-O3 -g -O0".to_owned(),
        |s| ruby(s).cflags = "-O0 -g -O2".to_owned(),
    ),
    (
        "ruby.debug-build",
        |s| ruby(s).cppflags = "-DRUBY_DEBUG=1".to_owned(),
        |s| ruby(s).cppflags = "-DRUBY_DEBUG=0 -D_FORTIFY_SOURCE=2".to_owned(),
    ),
    (
        "ruby.gc-variables-dead",
        |s| env(s, "RUBY_GC_HEAP_INIT_SLOTS", "600000"),
        |s| env(s, "RUBY_GC_HEAP_0_INIT_SLOTS", "600000"),
    ),
    (
        "ruby.gc-growth",
        |s| env(s, "RUBY_GC_HEAP_GROWTH_FACTOR", "1.01"),
        |s| env(s, "RUBY_GC_HEAP_GROWTH_FACTOR", "1.25"),
    ),
    (
        "ruby.malloc-arenas",
        |s| {
            s.process.env.remove("MALLOC_ARENA_MAX");
        },
        |s| {
            s.process.env.remove("MALLOC_ARENA_MAX");
            s.process.allocator = Some("jemalloc".to_owned());
        },
    ),
    (
        "ruby.options-left-over",
        |s| env(s, "RUBYOPT", "-W0 -rdebug/start"),
        |s| env(s, "RUBYOPT", "-W0 -rbundler/setup"),
    ),
    (
        "ruby.extensions-missing",
        |s| ruby(s).gems_unbuilt = vec!["bigdecimal".to_owned()],
        |s| ruby(s).gems_unbuilt.clear(),
    ),
    (
        "ruby.coverage",
        |s| env(s, "COVERAGE", "1"),
        |s| env(s, "COVERAGE", "false"),
    ),
    (
        "app.development",
        |s| env(s, "RAILS_ENV", "development"),
        |s| {
            env(s, "RAILS_ENV", "development");
            app(s).is_rails = false;
        },
    ),
    (
        "app.log-debug",
        |s| production(s, "log_level", ":debug"),
        |s| production(s, "log_level", "ENV.fetch(\"RAILS_LOG_LEVEL\", \"info\")"),
    ),
    (
        "app.log-debug",
        |s| {
            production(s, "log_level", "ENV.fetch(\"RAILS_LOG_LEVEL\", \"info\")");
            env(s, "RAILS_LOG_LEVEL", "debug");
        },
        // Nothing reads the variable.
        |s| env(s, "RAILS_LOG_LEVEL", "debug"),
    ),
    (
        "app.log-debug",
        |s| production(s, "log_level", "\"debug\""),
        |s| production(s, "log_level", "ENV[\"DEBUG\"] ? :debug : :info"),
    ),
    (
        "app.eager-load-off",
        |s| production(s, "eager_load", "false"),
        |s| production(s, "eager_load", "ENV[\"X\"]"),
    ),
    (
        "app.reloading-on",
        |s| production(s, "enable_reloading", "true"),
        |s| production(s, "cache_classes", "true"),
    ),
    (
        "app.verbose-query-logs",
        |s| production(s, "active_record.verbose_query_logs", "true"),
        |s| production(s, "active_record.verbose_query_logs", "false"),
    ),
    (
        "app.bootsnap-missing",
        |s| app(s).boots_snap = false,
        |s| {
            app(s).boots_snap = false;
            app(s).is_rails = false;
        },
    ),
    (
        "app.puma-old",
        |s| gem(s, "puma", "6.4.2"),
        |s| gem(s, "puma", "7.0.0"),
    ),
    (
        "app.rails-end-of-life",
        |s| gem(s, "rails", "6.1.7"),
        |s| gem(s, "rails", "8.1.0"),
    ),
    (
        "app.workers-above-cores",
        |s| app(s).workers = Some(20),
        |s| app(s).workers = Some(10),
    ),
    (
        "app.one-worker",
        |s| app(s).workers = Some(1),
        // Only the app knows the number.
        |s| {
            app(s).workers = None;
            app(s).workers_origin = Origin::Computed;
        },
    ),
    (
        "app.one-worker",
        |s| {
            app(s).workers = None;
            app(s).workers_origin = Origin::Unset;
        },
        |s| {
            app(s).workers = None;
            env(s, "WEB_CONCURRENCY", "4");
        },
    ),
    (
        "app.threads-many",
        |s| env(s, "RAILS_MAX_THREADS", "32"),
        // A number in Puma's file wins over the variable.
        |s| {
            env(s, "RAILS_MAX_THREADS", "32");
            app(s).threads_origin = Origin::Literal;
        },
    ),
    (
        "app.pool-below-threads",
        |s| app(s).threads = Some(8),
        // Both read the variable.
        |s| {
            app(s).threads = Some(8);
            env(s, "RAILS_MAX_THREADS", "16");
        },
    ),
    (
        "app.no-preload",
        |s| {
            gem(s, "puma", "4.3.12");
            app(s).preload = Some(false);
        },
        |s| app(s).preload = Some(false),
    ),
    (
        "app.json-old",
        |s| gem(s, "json", "2.6.1"),
        |s| gem(s, "json", "2.10.0"),
    ),
    (
        "app.json-pure",
        |s| gem(s, "json_pure", "2.6.1"),
        |s| gem(s, "multi_json", "1.15.0"),
    ),
    (
        "app.strings-not-frozen",
        |s| (app(s).sources, app(s).sources_unfrozen) = (40, 30),
        |s| {
            (app(s).sources, app(s).sources_unfrozen) = (40, 30);
            let option = "--enable-frozen-string-literal".to_owned();
            s.process.env.insert("RUBYOPT".to_owned(), option);
        },
    ),
    (
        "app.webrick",
        |s| {
            app(s).gems.remove("puma");
            gem(s, "webrick", "1.9.0");
        },
        |s| gem(s, "webrick", "1.9.0"),
    ),
];
