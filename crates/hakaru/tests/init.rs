//! `hakaru init` on three kinds of apps, then `hakaru run` with the written files, unedited but for
//! the port.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

/// One at a time: each boots an app.
static ALONE: Mutex<()> = Mutex::new(());

fn hakaru(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(arguments)
        .current_dir(folder)
        .env("CHAT_SMALL", "1")
        .env("DISABLE_DATABASE_ENVIRONMENT_CHECK", "1")
        .env_remove("DATABASE_URL")
        .output()
        .expect("hakaru runs")
}

fn copy_without_config(app: &str, folder: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../apps")
        .join(app);
    let copied = Command::new("cp")
        .arg("-rT")
        .args([&source, folder])
        .status();
    assert!(copied.expect("cp runs").success());
    std::fs::remove_file(folder.join("hakaru.toml")).expect("the app's own configuration");
    let _ = std::fs::remove_dir_all(folder.join(".hakaru"));
}

fn check(port_written: &str, prepare: impl FnOnce(&Path), paths: &[&str]) {
    let _alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    prepare(path);
    let output = hakaru(path, &["init"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("next:   hakaru run"), "{said}");
    let flow = std::fs::read_to_string(path.join("flows/first.hurl")).expect("a flow");
    for wanted in paths {
        assert!(
            flow.contains(&format!(
                "GET {{{{base_url}}}}{wanted}\nAccept-Encoding: gzip\n"
            )),
            "{flow}"
        );
    }
    let written = std::fs::read_to_string(path.join("hakaru.toml")).expect("a configuration");
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port();
    let moved = written.replace(port_written, &port.to_string());
    std::fs::write(path.join("hakaru.toml"), &moved).expect("the port is changed");
    let output = hakaru(path, &["run", "--json", "--duration", "2s"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}\n{moved}");
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(!page.contains("hollow-answers"), "{page}");
    // The first run tried the flow.
    let flow = std::fs::read_to_string(path.join("flows/first.hurl")).expect("a flow");
    assert!(flow.contains("\nHTTP 200\n"), "{flow}");
    assert!(said.contains("tried "), "{said}");
    // A second time nothing is overwritten.
    assert_eq!(hakaru(path, &["init"]).status.code(), Some(2));
    let kept = std::fs::read_to_string(path.join("hakaru.toml")).expect("a configuration");
    assert_eq!(kept, moved);
}

#[test]
fn a_bare_rackup_file() {
    let app = "run ->(env) { [200, {}, [\"hello\"]] }\n";
    let prepare = |path: &Path| std::fs::write(path.join("config.ru"), app).expect("a file");
    check("9292", prepare, &["/"]);
}

#[test]
fn routes_that_answer_with_no_page_are_taken_out_by_the_first_run() {
    let app = r#"PAGES = { "/orders" => 200, "/account" => 302 }
run ->(env) { [PAGES.fetch(env["PATH_INFO"], 404), { "location" => "/login" }, ["hello"]] }
__END__
get "/orders"
get "/account"
"#;
    let prepare = |path: &Path| std::fs::write(path.join("config.ru"), app).expect("a file");
    check("9292", prepare, &["/", "/orders", "/account"]);
}

#[test]
fn a_sinatra_app() {
    check(
        "9292",
        |path| copy_without_config("chat", path),
        &["/", "/login", "/register"],
    );
}

#[test]
fn a_rails_app() {
    // As `rails new` writes it: plain HTTP is answered by a redirect.
    let prepare = |path: &Path| {
        copy_without_config("blog", path);
        let file = path.join("config/environments/production.rb");
        let text = std::fs::read_to_string(&file).expect("its settings");
        let (head, end) = text.rsplit_once("end").expect("a block");
        let text = format!("{head}  config.force_ssl = true\nend{end}");
        std::fs::write(&file, text).expect("they are written");
    };
    check("3000", prepare, &["/", "/posts"]);
}

#[test]
fn a_folder_without_an_app() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = hakaru(folder.path(), &["init"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no config.ru"));
}
