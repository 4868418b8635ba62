//! A walk through the blog, recorded by a headless Chromium.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use chromium::{Browser, Walk};

use crate::support::{check, copy_of, free_port, hakaru, read, replace_in};

/// The author's act on each page: an expression leading to the next page.
const STEPS: [&str; 6] = [
    "document.querySelector('header a[href$=new]').click()",
    "document.querySelector('[name=name]').value = 'Author 7';
     document.querySelector('[name=password]').value = 'correct horse';
     document.querySelector('[type=submit]').click()",
    "document.querySelector('[name=\"post[title]\"]').value = 'A day & a night';
     document.querySelector('[name=\"post[body]\"]').value = 'Written in a browser.\\nTwice.';
     document.querySelector('[type=submit]').click()",
    "document.querySelector('[name=name]').value = 'Reader';
     document.querySelector('[name=body]').value = 'well said';
     document.querySelector('.comments + form button').click()",
    "document.querySelector('header a').click()",
    "document.querySelector('article a').click()",
];

/// The blog on a port, ended with the value.
struct Blog(Child);

impl Blog {
    fn start(project: &Path, port: u16) -> Blog {
        let run = |words: &[&str]| {
            let mut command = Command::new("bundle");
            command
                .arg("exec")
                .args(words)
                .current_dir(project)
                .env("RAILS_ENV", "production")
                .env("DISABLE_DATABASE_ENVIRONMENT_CHECK", "1")
                .env("PORT", port.to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            command
        };
        let filled = run(&["rake", "db:schema:load", "db:seed"]).status();
        assert!(filled.expect("rake; run bin/test").success());
        let server = run(&["puma", "-C", "config/puma.rb"]).spawn();
        let mut blog = Blog(server.expect("puma; run bin/test"));
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(blog.0.try_wait().expect("its state").is_none(), "it ended");
            std::thread::yield_now();
        }
        blog
    }
}

impl Drop for Blog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn recorded(url: &str) -> String {
    let mut browser = Browser::start();
    let mut walk = Walk::begin(&mut browser);
    browser.visit(url);
    walk.add(&mut browser);
    for step in STEPS {
        browser.follow(step);
        walk.add(&mut browser);
    }
    let page = browser.ask("document.body.innerText");
    let page = page.as_str().expect("a text");
    assert!(
        page.contains("A day & a night") && page.contains("well said"),
        "{page}"
    );
    walk.har()
}

#[test]
fn a_walk_with_login_post_and_comment_runs_without_an_edit() {
    let folder = tempfile::tempdir().expect("a folder");
    let project = copy_of("blog", folder.path());
    let port = free_port();
    let url = format!("http://127.0.0.1:{port}");
    replace_in(&project.join("hakaru.toml"), &[("3000", &port.to_string())]);
    let blog = Blog::start(&project, port);
    std::fs::write(project.join("walk.har"), recorded(&url)).expect("it is written");

    check(&project, &["flows", "from", "walk.har", "--writes"], 0);
    let flow = read(&project, "flows/walk/walk.hurl");
    for part in [
        "authenticity_token: {{authenticity_token}}",
        "password: {{password}}",
        "{{base_url}}{{place}}/comments",
    ] {
        assert!(flow.contains(part), "no {part} in {flow}");
    }
    assert!(!flow.contains("correct horse"), "{flow}");
    let words = [
        "check",
        "flows/walk/walk.hurl",
        "--csv",
        "flows/walk/walk.csv",
    ];
    for _ in 0..2 {
        check(&project, &[&words[..], &["--url", &url]].concat(), 0);
    }
    check(&project, &["check", "flows/write.hurl", "--url", &url], 0);
    drop(blog);

    let run = [
        "run",
        "--config",
        "hakaru-walk.toml",
        "--duration",
        "4s",
        "--json",
    ];
    let output = hakaru(&project, &run);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&json["checks_failed"], &json["errors"]),
        (&0.into(), &0.into()),
        "{}",
        json["failures"]
    );
}
