//! Runs the benchmark of `hakaru bench` beside peers: `crates/bench/src/code.rs`, with missing
//! peers installed here.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program;
use crate::run::{Outcome, capture, cargo, find_program, is_program, run, target_folder};
use crate::setup::matrix;

/// The release to build.
const HYPERFINE: &str = "1.19.0";
/// The flag for the library of benchmark-ips, Debian's package, and a file of the package where
/// installed.
const IPS: (&str, &str, &str) = (
    "--ips",
    "ruby-benchmark-ips",
    "/usr/lib/ruby/vendor_ruby/benchmark/ips.rb",
);
/// The flag for benchmark_driver's folder, and the gem.
const DRIVER: (&str, &str) = ("--driver", "benchmark_driver");

pub(super) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let peers = target_folder().join("bench/peers");
    let mut arguments = arguments.to_vec();
    let what = arguments.iter().skip_while(|word| *word != "--what").nth(1);
    let needs = |part: &str| what.is_none_or(|what| what == part || what == "all");
    let mut path = env::var("PATH").unwrap_or_default();
    if needs("commands") && find_program("hyperfine").is_none() {
        path = format!("{}:{path}", hyperfine(&peers)?.display());
    }
    let compares_scripts = needs("equal") || needs("planted");
    let named = arguments.clone();
    let is_named = |flag: &str| named.iter().any(|word| word == flag);
    if compares_scripts && !is_named(IPS.0) && !Path::new(IPS.2).is_file() {
        match ips(&peers) {
            Ok(library) => arguments.extend([IPS.0.to_owned(), library]),
            Err(error) => eprintln!("bench: without {}: {error}", IPS.1),
        }
    }
    if compares_scripts && !is_named(DRIVER.0) {
        match driver(&peers) {
            Ok(folder) => arguments.extend([DRIVER.0.to_owned(), folder]),
            Err(error) => eprintln!("bench: without {}: {error}", DRIVER.1),
        }
    }
    program::run_with("code", &arguments, &[("PATH", &path)])
}

/// Returns the folder of hyperfine, built from the crate, once.
fn hyperfine(peers: &Path) -> Outcome<PathBuf> {
    let folder = peers.join("hyperfine");
    if !is_program(&folder.join("bin/hyperfine")) {
        let words = ["install", "hyperfine", "--locked", "--version", HYPERFINE];
        let mut install = cargo(&words);
        let build = peers.join("hyperfine-build");
        run(install
            .arg("--root")
            .arg(&folder)
            .env("CARGO_TARGET_DIR", build))?;
    }
    Ok(folder.join("bin"))
}

/// Returns the library of benchmark-ips, unpacked from Debian's package, once.
fn ips(peers: &Path) -> Outcome<String> {
    let folder = peers.join(IPS.1);
    matrix::unpack_once(&folder, "trixie", &[IPS.1])?;
    let mut find = Command::new("find");
    let found = capture(find.arg(&folder).args(["-path", "*/benchmark/ips.rb"]))?;
    let library = found
        .lines()
        .next()
        .and_then(|file| file.strip_suffix("/benchmark/ips.rb"));
    library
        .map(str::to_owned)
        .ok_or(format!("{} has no benchmark/ips.rb", IPS.1))
}

/// Returns the folder of the gem: known to Ruby, or fetched into the build folder.
fn driver(peers: &Path) -> Outcome<String> {
    let gems = peers.join("gems");
    let known = || {
        let code = format!(
            "print Gem::Specification.find_by_name({:?}).full_gem_path",
            DRIVER.1
        );
        let mut ruby = Command::new("ruby");
        capture(ruby.args(["-e", &code]).env("GEM_PATH", &gems))
    };
    if let Ok(folder) = known() {
        return Ok(folder);
    }
    let mut install = Command::new("gem");
    install.args(["install", DRIVER.1, "--no-document", "--install-dir"]);
    capture(install.arg(&gems))?;
    known()
}
