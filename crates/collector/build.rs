//! Builds the small program into a separate target folder, and packs the result, in release builds.
//! Other builds are for tests, whose hosts are near, and wait for no second build.

#[path = "../capture/nested_build.rs"]
mod nested_build;

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Everything the small program is made of, from the workspace's root.
const SOURCES: [&str; 14] = [
    "Cargo.lock",
    "crates/collector",
    "crates/collect/src",
    "crates/remote/src",
    "crates/capture/src",
    "crates/database/src",
    "crates/database-client/src",
    "crates/logs/src",
    "crates/recording/src",
    "crates/ring/src",
    "crates/routes/src",
    "crates/sql-digest/src",
    "crates/stacks/src",
    "crates/capture/nested_build.rs",
];

fn main() {
    let folder = nested_build::folder("OUT_DIR");
    let packed = folder.join("collector.gz");
    let is_wanted = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let written = match is_wanted && !nested_build::is_nested() {
        true => build(&folder.join("collector"), &packed),
        false => fs::write(&packed, []),
    };
    if let Err(error) = written {
        println!("cargo::error=the collector cannot be packed: {error}");
    }
    println!("cargo::rustc-env=HAKARU_COLLECTOR={}", packed.display());
}

fn build(folder: &Path, packed: &Path) -> std::io::Result<()> {
    let built = nested_build::build(
        &["--package", "hakaru-collector", "--bin", "hakaru-collector"],
        "collector",
        folder,
        &SOURCES,
    );
    let program = fs::read(built.join("hakaru-collector"))?;
    let mut encoder = GzEncoder::new(File::create(packed)?, Compression::best());
    encoder.write_all(&program)?;
    encoder.finish().map(drop)
}
