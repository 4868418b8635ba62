//! Published experience, repeated on the example apps. The experiments themselves are in
//! `crates/bench/src/experiment/`.

use crate::bench::{help, program};
use crate::rubies::compilers;
use crate::run::Outcome;

/// Name, published result and flags of each experiment. A new one adds its line here.
const EXPERIMENTS: &[(&str, &str, &[help::Flag])] = &[
    (
        "blog",
        "one page under load, from development mode to a caching proxy; --for SECONDS does it in pieces",
        help::BLOG,
    ),
    (
        "jit",
        "Rails without and with Ruby's JIT compiler; --flag, --budget SECONDS",
        help::JIT_OF_RAILS,
    ),
    (
        "three-servers",
        "Ruby and Go under more and more connections, beside published curves; --kinds",
        help::THREE_SERVERS,
    ),
];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let Some((name, rest)) = arguments.split_first() else {
        EXPERIMENTS
            .iter()
            .for_each(|(name, about, _)| println!("{name:12} {about}"));
        return Ok(());
    };
    let Some((_, about, flags)) = EXPERIMENTS.iter().find(|(known, ..)| known == name) else {
        return Err(format!(
            "no experiment is called {name:?}; `cargo xtask experiment` lists them"
        ));
    };
    match help::asked(("experiment", name, about), flags, rest)? {
        Some(page) => print!("{page}"),
        None if name == "jit" => with_yjit(arguments)?,
        None => program::run_with("experiment", arguments, &[])?,
    }
    Ok(())
}

/// Runs the experiment with a Ruby with YJIT, where Debian's Ruby of the tests has none.
fn with_yjit(arguments: &[String]) -> Outcome<()> {
    if compilers::ruby_has_yjit() {
        return program::run_with("experiment", arguments, &[]);
    }
    let programs = compilers::programs_with_yjit()?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)));
    let path = path.map_err(|error| format!("cannot set PATH: {error}"))?;
    program::run_with(
        "experiment",
        arguments,
        &[("PATH", &path.to_string_lossy())],
    )
}
