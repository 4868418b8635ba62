//! Picture of a page for the README, made by a headless Chromium.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{Outcome, root, run};

/// Where the picture lies, relative to the top folder.
const PICTURE: &str = "docs/images/page.png";
/// What of the page is shown, in CSS pixels: the verdict, the numbers and the first finding.
const SIZE: (u32, u32) = (1000, 1080);
/// What a README may load.
const BYTES_MAX: u64 = 200 * 1024;

/// Writes the picture of the HTML page named by `arguments`.
pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let [page] = arguments else {
        return Err(
            "usage: cargo xtask picture PAGE.html, a page of `hakaru report --html`".into(),
        );
    };
    let page = PathBuf::from(page);
    let page = page
        .canonicalize()
        .map_err(|error| format!("{}: {error}", page.display()))?;
    let picture = root().join(PICTURE);
    let mut chromium = Command::new("chromium");
    chromium.args(["--headless", "--disable-gpu", "--hide-scrollbars"]);
    // A browser that root starts has no sandbox; the page is our own, and fetches nothing.
    chromium.arg("--no-sandbox");
    chromium.arg(format!("--window-size={},{}", SIZE.0, SIZE.1));
    chromium.arg(format!("--screenshot={}", picture.display()));
    chromium.arg(format!("file://{}", page.display()));
    run(&mut chromium)?;
    let bytes = std::fs::metadata(&picture).map_or(0, |file| file.len());
    eprintln!("picture: wrote {PICTURE}, {} KiB", bytes / 1024);
    match bytes {
        1..=BYTES_MAX => Ok(()),
        _ => Err(format!(
            "{PICTURE} has {bytes} bytes; at most {BYTES_MAX} are shown in a README"
        )),
    }
}
