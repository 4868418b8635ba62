//! The app's own settings: Puma, Rails, gems.

use words::{phrase, text};

use super::counts::{cores, pool, set_threads, set_workers, threads, workers, workers_or_single};
use super::release;
use crate::check::{Area, Check, Found, Level, Look, Needs};
use crate::snapshot::{App, Ruby, Snapshot};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "app.development",
        area: Area::App,
        title: phrase!("a Rails app runs in development mode"),
        why: phrase!(
            "it looks for changed files at each request, caches nothing and logs everything; its figures say nothing of production"
        ),
        source: "https://guides.rubyonrails.org/configuring.html (enable_reloading, eager_load)",
        look: Look::Whole(|s| {
            app(s)?.is_rails.then_some(())?;
            let env = &s.process.env;
            let mode = env.get("RAILS_ENV").or_else(|| env.get("RACK_ENV"))?;
            (mode == "development").then(|| {
                Found::new(Level::High, format!("RAILS_ENV={mode}"))
                    .evidence(phrase!(
                        "production is another database, and real mail and services: what DATABASE_URL, else `production` in config/database.yml, and the credentials name"
                    ))
                    .change(
                        phrase!(
                            "first a copy of the data, and DATABASE_URL=<address of the copy>; never the address of the real one"
                        ),
                        phrase!("drop the copy"),
                    )
                    .change(
                        phrase!(
                            "SECRET_KEY_BASE=$(openssl rand -hex 64), where no credentials of production can be read"
                        ),
                        "",
                    )
                    .change(
                        phrase!(
                            "bin/rails assets:precompile, and without a web server in front RAILS_SERVE_STATIC_FILES=1"
                        ),
                        "bin/rails assets:clobber",
                    )
                    .change("RAILS_ENV=production", format!("RAILS_ENV={mode}"))
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.log-debug",
        area: Area::App,
        title: phrase!("the app logs at level debug"),
        why: phrase!("each statement and each rendered template is formatted and written"),
        source: "https://guides.rubyonrails.org/debugging_rails_applications.html (log levels)",
        look: Look::Whole(|s| {
            const VARIABLE: &str = "RAILS_LOG_LEVEL";
            let written = setting(s, "config.log_level");
            let is_debug = |value: &str| {
                let word = value.trim_matches([':', '"', '\'']);
                word.eq_ignore_ascii_case("debug")
            };
            if let Some(value) = written.filter(|value| is_debug(value)) {
                let line = |value: &str| {
                    text!(
                        "{line} in production.rb",
                        line = format!("config.log_level = {value}")
                    )
                };
                // No variable has an effect on a level that is written.
                return Some(
                    Found::new(Level::Medium, line(value))
                        .change(line(":info"), line(value))
                        .needs(Needs::Restart),
                );
            }
            let reads = written.is_none_or(|value| value.contains(VARIABLE));
            let level = s.process.env.get(VARIABLE);
            let level = level.filter(|level| reads && is_debug(level))?;
            Some(
                Found::new(Level::Medium, format!("{VARIABLE}={level}"))
                    .change(format!("{VARIABLE}=info"), format!("{VARIABLE}={level}"))
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.eager-load-off",
        area: Area::App,
        title: phrase!("production does not load the app at start"),
        why: phrase!("the first requests of each worker load code, and workers share none of it"),
        source: "https://guides.rubyonrails.org/configuring.html#config-eager-load",
        look: Look::Whole(|s| {
            let value = setting(s, "config.eager_load").filter(|value| *value == "false")?;
            Some(
                Found::new(
                    Level::Medium,
                    text!(
                        "{line} in production.rb",
                        line = format!("config.eager_load = {value}")
                    ),
                )
                .change("config.eager_load = true", "config.eager_load = false")
                .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.reloading-on",
        area: Area::App,
        title: phrase!("production looks for changed files"),
        why: phrase!("before each request the files of the app are checked, under a lock"),
        source: "https://guides.rubyonrails.org/configuring.html#config-enable-reloading",
        look: Look::Whole(|s| {
            let reloading = setting(s, "config.enable_reloading").filter(|value| *value == "true");
            let cached = setting(s, "config.cache_classes").filter(|value| *value == "false");
            let (line, other) = match (reloading, cached) {
                (Some(_), _) => (
                    "config.enable_reloading = true",
                    "config.enable_reloading = false",
                ),
                (None, Some(_)) => (
                    "config.cache_classes = false",
                    "config.cache_classes = true",
                ),
                (None, None) => return None,
            };
            Some(
                Found::new(Level::High, text!("{line} in production.rb", line))
                    .change(other, line)
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.verbose-query-logs",
        area: Area::App,
        title: phrase!("each statement's place in the source is logged"),
        why: phrase!("for each statement the call stack is walked"),
        source: "https://guides.rubyonrails.org/debugging_rails_applications.html#verbose-query-logs",
        look: Look::Whole(|s| {
            let value = setting(s, "config.active_record.verbose_query_logs")
                .filter(|value| *value == "true")?;
            let line = |value: &str| format!("config.active_record.verbose_query_logs = {value}");
            Some(
                Found::new(Level::Medium, line(value))
                    .change(line("false"), line("true"))
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.bootsnap-missing",
        area: Area::App,
        title: phrase!("the app starts without bootsnap"),
        why: phrase!("each start compiles all code and searches each file in each folder"),
        source: "https://github.com/rails/bootsnap",
        look: Look::Whole(|s| {
            let app = app(s).filter(|app| app.is_rails)?;
            let disabled = s.process.env.contains_key("DISABLE_BOOTSNAP");
            (disabled || !app.boots_snap).then(|| {
                let evidence = if disabled {
                    phrase!("DISABLE_BOOTSNAP is set")
                } else {
                    phrase!("config/boot.rb does not load bootsnap")
                };
                Found::new(Level::Low, evidence)
                    .change(
                        phrase!(
                            "bundle add bootsnap, and require \"bootsnap/setup\" in config/boot.rb"
                        ),
                        "bundle remove bootsnap",
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.puma-old",
        area: Area::App,
        title: phrase!("this Puma has a known fault with kept connections"),
        why: phrase!(
            "before 7.0 a kept connection can stay on a busy thread while others are idle: long tails"
        ),
        source: "https://github.com/puma/puma/issues/3678; Puma 7.0 history",
        look: Look::Whole(|s| {
            let version = app(s)?.gems.get("puma")?;
            let level = if release(version) < (5, 6) {
                Level::Medium
            } else {
                Level::Low
            };
            (release(version) < (7, 0)).then(|| {
                Found::new(level, format!("puma {version}"))
                    .change(
                        phrase!("bundle update puma --conservative, with puma >= 7 in the Gemfile"),
                        format!("gem \"puma\", \"{version}\""),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.rails-end-of-life",
        area: Area::App,
        title: phrase!("this Rails gets no fixes any more"),
        why: phrase!(
            "7.2 brought YJIT by default and fewer threads, 8.0 a faster router and SQLite defaults"
        ),
        source: "https://guides.rubyonrails.org/maintenance_policy.html (two years of security fixes: 8.0 ended 2026-11-07)",
        look: Look::Whole(|s| {
            let gems = &app(s)?.gems;
            let version = gems.get("rails").or_else(|| gems.get("railties"))?;
            (release(version) < (8, 1)).then(|| {
                Found::new(Level::Low, format!("rails {version}"))
                    .change(
                        phrase!("bundle update rails, one minor version at a time"),
                        format!("rails {version}"),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.workers-above-cores",
        area: Area::App,
        title: phrase!("there are more workers than cores"),
        why: phrase!(
            "each worker keeps one core busy; beyond that they only take turns and memory"
        ),
        source: "https://github.com/puma/puma#clustered-mode (one worker for each core)",
        look: Look::Whole(|s| {
            let (workers, cores) = (workers(s)?, cores(s)?);
            (f64::from(workers) > 1.5 * cores.max(1.0)).then(|| {
                Found::new(
                    Level::Medium,
                    text!(
                        "{workers} workers, {cores} cores",
                        workers = workers.to_string(),
                        cores = cores.to_string()
                    ),
                )
                .change(
                    set_workers(s, cores.floor().max(1.0) as u32),
                    set_workers(s, workers),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.one-worker",
        area: Area::App,
        title: phrase!("one process has to use several cores"),
        why: phrase!(
            "only one thread of a process runs Ruby at a time, so the other cores stay idle"
        ),
        source: "https://github.com/puma/puma#clustered-mode",
        look: Look::Whole(|s| {
            app(s)?.gems.get("puma")?;
            has_one_lock(s).then_some(())?;
            let cores = cores(s).filter(|cores| *cores >= 2.0)?;
            let workers = workers_or_single(s)?;
            (workers < 2).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{workers} workers, {cores} cores",
                        workers = workers.to_string(),
                        cores = cores.to_string()
                    ),
                )
                .change(
                    text!(
                        "{setting} (hakaru tune measures how many are best)",
                        setting = set_workers(s, cores.floor() as u32)
                    ),
                    set_workers(s, workers),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.threads-many",
        area: Area::App,
        title: phrase!("many threads share one lock"),
        why: phrase!(
            "each thread may keep Ruby's lock for 100 ms while others wait; latency grows, throughput hardly"
        ),
        source: "https://github.com/rails/rails/issues/50450 (default 3 since Rails 7.2)",
        look: Look::Whole(|s| {
            const MANY: u32 = 10;
            has_one_lock(s).then_some(())?;
            let threads = threads(s).filter(|threads| *threads > MANY)?;
            Some(
                Found::new(
                    Level::Medium,
                    text!(
                        "{threads} threads for each worker",
                        threads = threads.to_string()
                    ),
                )
                .change(
                    text!(
                        "{setting} (hakaru tune measures how many are best)",
                        setting = set_threads(s, 5)
                    ),
                    set_threads(s, threads),
                )
                .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.pool-below-threads",
        area: Area::App,
        title: phrase!("there are fewer database connections than threads"),
        why: phrase!(
            "a thread waits until another gives its connection back, at last for 5 s and in vain"
        ),
        source: "https://guides.rubyonrails.org/configuring.html#database-pooling",
        look: Look::Whole(|s| {
            let (pool, threads) = (pool(s)?, threads(s)?);
            (pool < threads).then(|| {
                Found::new(
                    Level::High,
                    text!(
                        "pool = {pool}, {threads} threads",
                        pool = pool.to_string(),
                        threads = threads.to_string()
                    ),
                )
                .change(
                    text!(
                        "{line} in config/database.yml",
                        line = format!("pool: {threads}")
                    ),
                    format!("pool: {pool}"),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.no-preload",
        area: Area::App,
        title: phrase!("workers load the app each for itself"),
        why: phrase!("with preload_app! they share its memory, and start at once"),
        source: "https://github.com/puma/puma#clustered-mode (preload_app!, default since 5.0 in cluster mode)",
        look: Look::Whole(|s| {
            let app = app(s)?;
            let old = app
                .gems
                .get("puma")
                .is_some_and(|version| release(version) < (5, 0));
            (old && workers(s)? >= 2 && app.preload == Some(false)).then(|| {
                Found::new(Level::Low, phrase!("no preload_app! in config/puma.rb"))
                    .change("preload_app!", phrase!("no preload_app!"))
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.json-old",
        area: Area::App,
        title: phrase!("this json gem is slow"),
        why: phrase!("2.10 writes and reads JSON up to several times as fast"),
        source: "https://github.com/ruby/json/blob/master/CHANGES.md (2.10.0)",
        look: Look::Whole(|s| {
            let version = app(s)?.gems.get("json")?;
            (release(version) < (2, 10)).then(|| {
                Found::new(Level::Low, format!("json {version}"))
                    .change(
                        "bundle update json --conservative",
                        format!("gem \"json\", \"{version}\""),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.json-pure",
        area: Area::App,
        title: phrase!("JSON is read and written by Ruby code"),
        why: phrase!("json_pure takes several times as long as the native json"),
        source: "https://github.com/ruby/json (the native variant is faster than the one in Ruby)",
        look: Look::Whole(|s| {
            let version = app(s)?.gems.get("json_pure")?;
            Some(
                Found::new(Level::Medium, format!("json_pure {version}"))
                    .change(
                        "bundle remove json_pure && bundle add json",
                        "bundle add json_pure",
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "app.strings-not-frozen",
        area: Area::App,
        title: phrase!("string literals are made anew each time"),
        why: phrase!(
            "each run of a line with a literal allocates a string for the garbage collector"
        ),
        source: "https://docs.ruby-lang.org/en/3.4/syntax/comments_rdoc.html (frozen_string_literal); https://bugs.ruby-lang.org/issues/20205",
        look: Look::Whole(|s| {
            let (all, unfrozen) = (app(s)?.sources, app(s)?.sources_unfrozen);
            let options = s.process.env.get("RUBYOPT");
            let is_on = options.is_some_and(|text| {
                text.contains("enable-frozen-string-literal")
                    || text.contains("enable=frozen-string-literal")
            });
            (all >= 10 && unfrozen * 2 > all && !is_on).then(|| {
                Found::new(
                    Level::Low,
                    text!(
                        "{count} of {all} files of app and lib lack the comment",
                        count = unfrozen.to_string(),
                        all = all.to_string()
                    ),
                )
                .change(
                    phrase!("the comment frozen_string_literal: true in the first line of each, after the tests pass with RUBYOPT=--enable-frozen-string-literal"),
                    phrase!("the files without the comment"),
                )
                .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "app.webrick",
        area: Area::App,
        title: phrase!("WEBrick serves the app"),
        why: phrase!(
            "it is written for development: a thread for each connection, all of it in Ruby"
        ),
        source: "https://github.com/ruby/webrick (not for production)",
        look: Look::Whole(|s| {
            let gems = &app(s)?.gems;
            let servers = [
                "puma",
                "unicorn",
                "falcon",
                "passenger",
                "pitchfork",
                "thin",
                "iodine",
            ];
            let other = servers.iter().any(|name| gems.contains_key(*name));
            (gems.contains_key("webrick") && gems.contains_key("rack") && !other).then(|| {
                Found::new(
                    Level::Low,
                    phrase!("webrick is the only server in Gemfile.lock"),
                )
                .change("bundle add puma", "bundle remove puma")
                .needs(Needs::Restart)
            })
        }),
    },
];

fn app(s: &Snapshot) -> Option<&App> {
    s.app.as_ref()
}

/// Whether only one thread of a process runs Ruby at a time.
fn has_one_lock(s: &Snapshot) -> bool {
    s.ruby.as_ref().is_none_or(Ruby::is_cruby)
}

fn setting<'a>(s: &'a Snapshot, name: &str) -> Option<&'a str> {
    app(s)?.production.get(name).map(String::as_str)
}
