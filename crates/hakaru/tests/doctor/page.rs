//! The page in HTML, as drawn by a browser.

use chromium::{Browser, Look};
use serde_json::json;

use crate::support::{ended, program};

/// Makes a file with two indexes of which one is the beginning of the other, with names as long as
/// generated ones are.
fn database(path: &std::path::Path) {
    let long = "index_on_".repeat(16);
    let file = rusqlite::Connection::open(path).expect("a file");
    file.execute_batch(&format!(
        "CREATE TABLE posts (a INT, b INT);
         CREATE INDEX {long}_a ON posts (a);
         CREATE INDEX {long}_b ON posts (a, b);"
    ))
    .expect("a table");
}

#[test]
fn the_page_fits_a_phone_and_has_dark_colours() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("long.sqlite3");
    database(&file);
    let mut command = program();
    command
        .args(["doctor", "--measure", "no", "--html", "doctor.html"])
        .arg("--database")
        .arg(format!("sqlite:{}", file.display()))
        .current_dir(folder.path());
    ended(&mut command);
    let page = folder.path().join("doctor.html");
    let mut browser = Browser::start();
    for (width, scheme, background) in [
        (360, "light", "rgb(255, 255, 255)"),
        (390, "dark", "rgb(22, 24, 27)"),
        (1280, "light", "rgb(255, 255, 255)"),
    ] {
        browser.open(
            &page,
            Look {
                width,
                scheme,
                media: "",
            },
        );
        let named = browser.ask("document.body.innerText.includes('index_on_index_on_')");
        assert_eq!(named, json!(true), "{width}");
        let is_sideways = browser.ask("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(is_sideways, json!(false), "{width}");
        let colour = browser.ask("getComputedStyle(document.body).backgroundColor");
        assert_eq!(colour, json!(background), "{width}");
        assert_eq!(browser.complaints(), [""; 0], "{width}");
    }
}
