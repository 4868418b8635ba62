//! Checks of the Ruby interpreter: compiler, allocator and environment.

use words::{Text, phrase, text};

use super::{release, some_of};
use crate::check::{Area, Check, Found, Level, Look, Needs};
use crate::snapshot::{Ruby, Snapshot};

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ruby.end-of-life",
        area: Area::Ruby,
        title: phrase!("this Ruby gets no fixes any more"),
        why: phrase!("later versions are faster too: YJIT since 3.3 is worth 15 to 25 % on Rails"),
        source: "https://www.ruby-lang.org/en/downloads/branches/ (3.2 ended 2026-04-01)",
        look: Look::Whole(|s| {
            const OLDEST: (u32, u32) = (3, 3);
            // The version of another is that of the language it runs.
            let ruby = s.ruby.as_ref().filter(|ruby| ruby.is_cruby())?;
            (release(&ruby.version) < OLDEST).then(|| {
                Found::new(Level::Low, ruby.description.clone())
                    .change(
                        phrase!("Ruby 3.4 or later"),
                        format!("Ruby {}", ruby.version),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "ruby.yjit-not-built",
        area: Area::Ruby,
        title: phrase!("this Ruby was built without YJIT"),
        why: phrase!(
            "Rails 7.2 and later switches YJIT on, and without it in the build silently does nothing"
        ),
        source: "rails railties application/finisher.rb; Debian's ruby is configured with --disable-yjit",
        look: Look::Whole(|s| {
            let ruby = s
                .ruby
                .as_ref()
                .filter(|ruby| ruby.is_cruby() && release(&ruby.version) >= (3, 2))?;
            (!ruby.yjit_built).then(|| {
                Found::new(for_rails(s), ruby.description.clone())
                    .evidence(phrase!("YJIT_SUPPORT of RbConfig is not yes"))
                    .change(
                        phrase!("a Ruby with YJIT: the official image, or rustc at hand when it is built"),
                        phrase!("this Ruby"),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "ruby.yjit-off",
        area: Area::Ruby,
        title: phrase!("YJIT is built in and off"),
        why: phrase!("it makes most apps faster by 15 to 25 % for some memory"),
        source: "https://docs.ruby-lang.org/en/master/jit/yjit_md.html",
        look: Look::Whole(|s| {
            let ruby = s
                .ruby
                .as_ref()
                .filter(|ruby| ruby.is_cruby() && release(&ruby.version) >= (3, 3))?;
            // Rails switches it on itself.
            let by_rails = rails(s).is_some_and(|version| version >= (7, 2));
            (ruby.yjit_built && !ruby.yjit_on && !by_rails).then(|| {
                Found::new(for_app(s), "RubyVM::YJIT.enabled? = false")
                    .change("RUBY_YJIT_ENABLE=1", "unset RUBY_YJIT_ENABLE")
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "ruby.unoptimised",
        area: Area::Ruby,
        title: phrase!("this Ruby was compiled without optimisation"),
        why: phrase!("everything takes two to four times as long"),
        source: "RbConfig optflags; ruby configure.ac uses -O3",
        look: Look::Whole(|s| {
            let ruby = s.ruby.as_ref()?;
            let level = optimisation(ruby)?;
            matches!(level, "-O0" | "-O1" | "-O" | "-Og").then(|| {
                Found::new(Level::High, text!("compiled with {flag}", flag = level))
                    .change(
                        phrase!("a Ruby built with optflags=-O3, such as the distribution's"),
                        text!("a Ruby built with {flag}", flag = level),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "ruby.debug-build",
        area: Area::Ruby,
        title: phrase!("this Ruby checks itself while it runs"),
        why: phrase!("a build with RUBY_DEBUG or VM_CHECK_MODE is several times slower"),
        source: "ruby vm_core.h, include/ruby/assert.h",
        look: Look::Whole(|s| {
            let ruby = s.ruby.as_ref()?;
            let flags = format!("{} {}", ruby.cppflags, ruby.cflags);
            let words = flags.split_whitespace();
            let mut debug = words.filter(|word| {
                ["-DRUBY_DEBUG", "-DVM_CHECK_MODE", "-DRGENGC_CHECK_MODE"]
                    .iter()
                    .any(|flag| word.starts_with(flag) && !word.ends_with("=0"))
            });
            let flag = debug.next()?;
            Some(
                Found::new(Level::High, text!("compiled with {flag}", flag))
                    .change(
                        phrase!("a Ruby built without it"),
                        text!("a Ruby built with {flag}", flag),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "ruby.gc-variables-dead",
        area: Area::Ruby,
        title: phrase!("a variable for the garbage collector has no effect in this Ruby"),
        why: phrase!(
            "it was replaced by one for each slot size in 3.3; the tuning that it stands for is lost"
        ),
        source: "https://docs.ruby-lang.org/en/3.3/NEWS_md.html (RUBY_GC_HEAP_%d_INIT_SLOTS)",
        look: Look::Whole(|s| {
            const DEAD: [&str; 4] = [
                "RUBY_GC_HEAP_INIT_SLOTS",
                "RUBY_HEAP_MIN_SLOTS",
                "RUBY_FREE_MIN",
                "RUBY_HEAP_SLOTS_INCREMENT",
            ];
            let ruby = s
                .ruby
                .as_ref()
                .filter(|ruby| release(&ruby.version) >= (3, 3))?;
            let (name, value) = s
                .process
                .env
                .iter()
                .find(|(name, _)| DEAD.contains(&name.as_str()))?;
            Some(
                Found::new(Level::Low, format!("{name}={value}"))
                    .evidence(format!("Ruby {}", ruby.version))
                    .change(
                        text!(
                            "{setting} and so on to _4_, then measure: hakaru compare",
                            setting = format!("RUBY_GC_HEAP_0_INIT_SLOTS={value}")
                        ),
                        format!("{name}={value}"),
                    )
                    .needs(Needs::Restart),
            )
        }),
    },
    Check {
        id: "ruby.gc-growth",
        area: Area::Ruby,
        title: phrase!("the heap grows in very small or very large steps"),
        why: phrase!(
            "small steps mean many garbage collections, large ones memory that is never used"
        ),
        source: "ruby gc/default (RUBY_GC_HEAP_GROWTH_FACTOR, 1.8 by default)",
        look: Look::Whole(|s| {
            let text = s.process.env.get("RUBY_GC_HEAP_GROWTH_FACTOR")?;
            let factor: f64 = text.parse().ok()?;
            (!(1.05..=3.0).contains(&factor)).then(|| {
                Found::new(Level::Low, format!("RUBY_GC_HEAP_GROWTH_FACTOR={text}"))
                    .change(
                        "unset RUBY_GC_HEAP_GROWTH_FACTOR",
                        format!("RUBY_GC_HEAP_GROWTH_FACTOR={text}"),
                    )
                    .needs(Needs::Restart)
            })
        }),
    },
    Check {
        id: "ruby.malloc-arenas",
        area: Area::Ruby,
        title: phrase!("many threads allocate from many arenas of glibc"),
        why: phrase!(
            "each arena keeps what it once had: memory grows to a multiple of what is in use"
        ),
        source: "man 3 mallopt (M_ARENA_MAX, 8 for each core); rails Dockerfile uses jemalloc",
        look: Look::Whole(arenas),
    },
    Check {
        id: "ruby.options-left-over",
        area: Area::Ruby,
        title: phrase!("RUBYOPT loads something for debugging"),
        why: phrase!(
            "it is loaded into every Ruby started here; debuggers, coverage and tracing make all code slower"
        ),
        source: "man 1 ruby (RUBYOPT)",
        look: Look::Whole(options),
    },
    Check {
        id: "ruby.extensions-missing",
        area: Area::Ruby,
        title: phrase!("native parts of gems are not built"),
        why: phrase!(
            "RubyGems ignores such a gem, and another version or a slow one in Ruby is used in its place"
        ),
        source: "rubygems BasicSpecification#missing_extensions?",
        look: Look::Whole(|s| {
            let ruby = s.ruby.as_ref()?;
            (!ruby.gems_unbuilt.is_empty()).then(|| {
                let names = ruby.gems_unbuilt.join(" ");
                Found::new(Level::Low, some_of(&ruby.gems_unbuilt))
                    .change(format!("gem pristine {names}"), "")
            })
        }),
    },
    Check {
        id: "ruby.coverage",
        area: Area::Ruby,
        title: phrase!("line coverage is counted"),
        why: phrase!("each executed line is counted, and compiled code is given up for it"),
        source: "https://docs.ruby-lang.org/en/master/Coverage.html",
        look: Look::Whole(|s| {
            let variable = s
                .process
                .env
                .get("COVERAGE")
                .filter(|value| !["", "0", "false"].contains(&value.as_str()));
            let tracing = s.ruby.as_ref().is_some_and(|ruby| ruby.tracing);
            let evidence = match (variable, tracing) {
                (Some(value), _) => Text::from(format!("COVERAGE={value}")),
                (None, true) => phrase!("Coverage is loaded at start").into(),
                (None, false) => return None,
            };
            Some(
                Found::new(Level::Medium, evidence)
                    .change("unset COVERAGE", phrase!("set it again"))
                    .needs(Needs::Restart),
            )
        }),
    },
];

fn rails(s: &Snapshot) -> Option<(u32, u32)> {
    let gems = &s.app.as_ref()?.gems;
    let version = gems.get("rails").or_else(|| gems.get("railties"))?;
    Some(release(version))
}

/// Returns medium for an app of a Rails with the compiler on by default, low for a script.
fn for_rails(s: &Snapshot) -> Level {
    match rails(s) {
        Some(_) => Level::Medium,
        None => Level::Low,
    }
}

fn for_app(s: &Snapshot) -> Level {
    match s.app {
        Some(_) => Level::Medium,
        None => Level::Low,
    }
}

/// The last `-O` of the flags, which counts.
fn optimisation(ruby: &Ruby) -> Option<&str> {
    let last = |flags: &'_ str| {
        flags
            .rfind(" -O")
            .map(|at| at + 1)
            .or(flags.starts_with("-O").then_some(0))
    };
    let flags = match last(&ruby.cflags) {
        Some(at) => &ruby.cflags[at..],
        None => &ruby.optflags[last(&ruby.optflags)?..],
    };
    flags.split_whitespace().next()
}

fn arenas(s: &Snapshot) -> Option<Found> {
    const MANY: u32 = 5;
    let threads = s
        .process
        .threads
        .into_iter()
        .chain(super::counts::threads(s))
        .max()?;
    let env = &s.process.env;
    let preloaded = env
        .get("LD_PRELOAD")
        .is_some_and(|value| value.contains("malloc"));
    let other = s
        .process
        .allocator
        .as_deref()
        .is_some_and(|name| name != "libc");
    let linked = s.ruby.as_ref().is_some_and(|ruby| ruby.jemalloc);
    let musl = s.ruby.as_ref().is_some_and(Ruby::is_musl);
    let limited = env.contains_key("MALLOC_ARENA_MAX") || env.contains_key("MALLOC_CONF");
    if threads < MANY || preloaded || other || linked || musl || limited {
        return None;
    }
    let cores = s.machine.cores.unwrap_or(1);
    Some(
        Found::new(
            Level::Medium,
            text!(
                "{threads} threads, MALLOC_ARENA_MAX unset: up to {arenas} arenas",
                threads = threads.to_string(),
                arenas = (8 * cores).to_string()
            ),
        )
        .change(
            phrase!("MALLOC_ARENA_MAX=2, or LD_PRELOAD=libjemalloc.so.2"),
            "unset MALLOC_ARENA_MAX",
        )
        .needs(Needs::Restart),
    )
}

fn options(s: &Snapshot) -> Option<Found> {
    const LOADED: [&str; 9] = [
        "debug",
        "coverage",
        "simplecov",
        "tracer",
        "byebug",
        "ruby-prof",
        "stackprof",
        "rbtrace",
        "profile",
    ];
    let text = s.process.env.get("RUBYOPT")?;
    let is_left_over = |word: &str| {
        let library = word.strip_prefix("-r").unwrap_or_default();
        let loads = LOADED.iter().any(|known| {
            let mut parts = library.split('/');
            parts.any(|part| part.starts_with(known))
        });
        loads
            || matches!(
                word,
                "-d" | "--debug" | "-v" | "--jit-verbose" | "--yjit-stats"
            )
    };
    let word = text.split_whitespace().find(|word| is_left_over(word))?;
    Some(
        Found::new(Level::Medium, format!("RUBYOPT={text}"))
            .change(
                text!("RUBYOPT without {word}", word),
                format!("RUBYOPT=\"{text}\""),
            )
            .needs(Needs::Restart),
    )
}
