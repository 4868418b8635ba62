//! Published experience, repeated on the example apps. The experiments themselves are in
//! `crates/bench/src/experiment/`.

use crate::bench::program;
use crate::run::Outcome;

/// Name and published result of each experiment. A new one adds its line here.
const EXPERIMENTS: &[(&str, &str)] = &[
    (
        "blog",
        "one page under load, from development mode to a caching proxy; --for SECONDS does it in pieces",
    ),
    (
        "jit",
        "Rails without and with Ruby's JIT compiler; --flag, --budget SECONDS",
    ),
    (
        "three-servers",
        "Ruby and Go under more and more connections, beside published curves; --kinds",
    ),
];

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let Some(name) = arguments.first() else {
        EXPERIMENTS
            .iter()
            .for_each(|(name, about)| println!("{name:12} {about}"));
        return Ok(());
    };
    if !EXPERIMENTS.iter().any(|(known, _)| known == name) {
        return Err(format!(
            "no experiment is called {name:?}; `cargo xtask experiment` lists them"
        ));
    }
    program::run_with("experiment", arguments, &[])
}
