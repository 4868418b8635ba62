//! Jobs declared by a Ruby script with benchmark_driver's interface, as written by the stand-in for
//! the gem.

use serde::Deserialize;

/// The file loaded by `require 'benchmark_driver'`.
pub const STAND_IN: &str = include_str!("driver.rb");

/// One `Benchmark.driver` block.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub struct Declared {
    /// The jobs, in the form of a YAML file.
    pub suite: String,
    /// What to measure for.
    pub runner: Option<String>,
    /// The form of output.
    pub output: Option<String>,
    /// How often.
    pub repeat_count: Option<String>,
    /// In the form of `-e`.
    pub executables: Vec<String>,
    /// Versions of rbenv.
    pub rbenv: Vec<String>,
    /// Versions of rvm.
    pub rvm: Vec<String>,
}

/// Returns whether a script requires the gem, and so declares jobs instead of being one.
pub fn is_declared_by(script: &str) -> bool {
    let asks = |line: &str| {
        let rest = line.trim_start().strip_prefix("require");
        rest.is_some_and(|rest| {
            rest.trim_start_matches([' ', '('])
                .trim_start_matches(['\'', '"'])
                .starts_with("benchmark_driver")
        })
    };
    script.lines().any(asks)
}

/// Reads the stand-in's lines; an error when there are none.
pub fn read(lines: &str) -> Result<Vec<Declared>, String> {
    let each = lines
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()));
    let all: Vec<Declared> = each.collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err(
            "the script requires benchmark_driver and never calls Benchmark.driver".to_owned(),
        );
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_ask_for_the_gem_declare_jobs() {
        assert!(is_declared_by("require 'benchmark_driver'\n"));
        assert!(is_declared_by("x\n  require(\"benchmark_driver\")\n"));
        assert!(!is_declared_by("# require 'benchmark_driver'\nputs 1\n"));
        assert!(read("").is_err());
    }
}
