//! No file written by hakaru has the secrets of the app's users.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::Project;

/// A part of every secret below.
const CANARY: &str = "k4n4r13nv0g3l";

/// An app with an error in every request, after use of the secrets: in statements, in the
/// response's headers and in the body.
const APP: &str = "require 'sqlite3'\n\
    DB = SQLite3::Database.new(':memory:')\n\
    DB.execute('CREATE TABLE users (name TEXT, password TEXT)')\n\
    run(lambda do |env|\n  \
      DB.execute(\"SELECT name FROM users WHERE password = 'CANARY'\")\n  \
      DB.execute('SELECT name FROM users WHERE password = ?', ['CANARY'])\n  \
      headers = { 'x-session' => 'CANARY', 'set-cookie' => 's=CANARY', 'etag' => '\"CANARY\"', \
        'location' => 'http://u:CANARY@localhost/a?t=CANARY' }\n  \
      [500, headers, ['CANARY of the answer']]\n\
    end)\n";

/// A flow with secrets in every part of a request.
const FLOW: &str = "POST {{base_url}}/login?token=CANARY&next=CANARY\n\
    Cookie: session=CANARY\nX-Api-Key: CANARY\nAuthorization: Bearer CANARY\n\
    [FormParams]\nname: CANARY\npassword: CANARY\n\n\
    POST {{base_url}}/api\nContent-Type: application/json\n{\"password\": \"CANARY\"}\n";

/// Returns the files below a folder with the canary inside.
fn files_with_canary(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let is_own = ["config.ru", "login.hurl"]
            .iter()
            .any(|name| path.ends_with(name));
        if path.is_dir() {
            found.extend(files_with_canary(&path));
        } else if !is_own {
            let bytes = fs::read(&path).unwrap_or_default();
            let canary = CANARY.as_bytes();
            found.extend(
                bytes
                    .windows(canary.len())
                    .any(|w| w == canary)
                    .then_some(path),
            );
        }
    }
    found
}

/// Returns all facts of the last run as text, since the store compresses facts.
fn stored(project: &Project) -> String {
    let store = store::Store::open(&project.path).expect("a store");
    let run = store.load(store::RunRef::Last).expect("a run");
    format!("{run:?}")
}

fn project() -> Project {
    let project = Project::new(&APP.replace("CANARY", CANARY));
    project.write("login.hurl", &FLOW.replace("CANARY", CANARY));
    let command = project.puma("-t 2:2");
    project.configure(
        &format!("command = '{command}'"),
        "[load]\nconnections = 2\nduration = '2s'\nwarmup = '200ms'\n[[flow]]\nfile = 'login.hurl'",
    );
    project
}

#[test]
fn secrets_of_failed_requests_are_in_no_file() {
    let project = project();
    let run = project.end(&["run", "--json", "--html", "page.html"]);
    run.check(4, &["[redacted]"]);
    run.check_silent_on(CANARY);
    assert_eq!(files_with_canary(&project.path), Vec::<PathBuf>::new());
    let stored = stored(&project);
    assert!(stored.contains("SELECT name FROM users"), "{stored}");
    assert!(!stored.contains(CANARY), "{stored}");
    let page = project.read("page.html");
    assert!(page.contains("/login"), "the failed request is on the page");
}

#[test]
fn bodies_are_kept_when_they_are_asked_for() {
    let project = project();
    let kept = format!("{CANARY} of the answer");
    let run = project.end(&["run", "--full", "--keep-bodies"]);
    run.check(4, &[&kept]);
    assert!(stored(&project).contains(&kept));
}
