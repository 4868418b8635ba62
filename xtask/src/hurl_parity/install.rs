//! Real `hurl`, built from the crate into the build folder. What it links, libxml2 and OpenSSL, is
//! unpacked there from Debian's packages; nothing is installed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::run::{Outcome, cargo, run, target_folder};
use crate::setup::matrix;

/// The version whose verdicts [`super::known`] knows.
pub(super) const VERSION: &str = "8.0.1";
const PACKAGES: [&str; 2] = ["libxml2-dev", "libssl-dev"];
/// Libraries loaded by the built program at start, beside the C library: bookworm's names.
const LIBRARIES: [&str; 7] = [
    "libxml2.so",
    "libicuuc.so",
    "libicudata.so",
    "liblzma.so",
    "libssl.so",
    "libcrypto.so",
    "libz.so",
];

/// Builds `hurl` unless built already; returns the program.
pub(super) fn hurl() -> Outcome<PathBuf> {
    let folder = target_folder().join("tools/hurl");
    let program = folder.join(VERSION).join("bin/hurl");
    if program.is_file() {
        return Ok(program);
    }
    eprintln!(
        "hurl-parity: building hurl {VERSION} into {}",
        folder.display()
    );
    let root = folder.join("debian");
    matrix::unpack_once(&root, "bookworm", &PACKAGES)?;
    let libraries = folder.join("lib");
    link_libraries(&root, &libraries)?;
    link_headers(&root)?;
    let mut install = cargo(&[
        "install",
        "hurl",
        "--locked",
        "--debug",
        "--version",
        VERSION,
    ]);
    install
        .arg("--root")
        .arg(folder.join(VERSION))
        .env("CARGO_TARGET_DIR", folder.join("build"))
        .env("LIBXML2", libraries.join("libxml2.so"))
        .env("OPENSSL_LIB_DIR", &libraries)
        .env("OPENSSL_INCLUDE_DIR", root.join("usr/include"))
        .env(
            "RUSTFLAGS",
            format!(
                "-C link-arg=-Wl,-rpath,{0},-rpath-link,{0}",
                libraries.display()
            ),
        );
    run(&mut install)?;
    // The objects in between are many times the size of the program.
    let _ = fs::remove_dir_all(folder.join("build"));
    Ok(program)
}

/// Links the libraries into a folder without the release's C library, which must not be loaded
/// beside the machine's own.
fn link_libraries(root: &Path, folder: &Path) -> Outcome<()> {
    let failed = |error| format!("cannot fill {}: {error}", folder.display());
    fs::create_dir_all(folder).map_err(failed)?;
    for place in ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"] {
        for entry in fs::read_dir(root.join(place))
            .into_iter()
            .flatten()
            .flatten()
        {
            let name = entry.file_name();
            let is_wanted = LIBRARIES
                .iter()
                .any(|library| name.to_string_lossy().starts_with(library));
            let link = folder.join(&name);
            if is_wanted && fs::symlink_metadata(&link).is_err() {
                symlink(entry.path(), link).map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// Links OpenSSL's headers into one folder for a build: Debian has two, one per architecture.
fn link_headers(root: &Path) -> Outcome<()> {
    let from = root.join("usr/include/x86_64-linux-gnu/openssl");
    for entry in fs::read_dir(&from).into_iter().flatten().flatten() {
        let link = root.join("usr/include/openssl").join(entry.file_name());
        if fs::symlink_metadata(&link).is_err() {
            symlink(entry.path(), &link)
                .map_err(|error| format!("cannot make {}: {error}", link.display()))?;
        }
    }
    Ok(())
}
