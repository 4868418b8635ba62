//! Access logs, `.har` files and copied lines, and other input.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::support::{check, read};

/// Lines of an access log: two thirds of the requests for a list, one third for a message, in 20
/// seconds.
fn access_log() -> String {
    let line = |index: usize| {
        let path = match index % 3 {
            0 => format!("/message/{}", 100 + index),
            _ => "/messages?page=2".to_owned(),
        };
        format!(
            "10.0.0.{} - - [25/Nov/2026:10:00:{:02} +0000] \"GET {path} HTTP/1.1\" 200 512 \"-\" \"x\"\n",
            index % 7,
            index / 30,
        )
    };
    let mut log: String = (0..600).map(line).collect();
    log +=
        "10.0.0.1 - - [25/Nov/2026:10:00:19 +0000] \"POST /message HTTP/1.1\" 204 0 \"-\" \"x\"\n";
    log + "not a line of it\n"
}

#[test]
fn an_access_log_gives_its_routes_their_shares_and_its_rate() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("access.log"), access_log()).expect("it is written");
    let printed = check(folder, &["flows", "from", "access.log"], 0);
    for part in [
        "1 line could not be read and are in no flow",
        "2 flows written into flows/access, the load into hakaru.toml",
        "1 flow that change data are written and off",
        "then `hakaru run --config hakaru.toml`",
    ] {
        assert!(printed.contains(part), "no {part:?} in {printed}");
    }
    let config = read(folder, "hakaru.toml");
    for part in [
        "rate = 30.000",
        "duration = \"20000ms\"",
        "file = \"flows/access/get-messages.hurl\"\nweight = 400",
        "weight = 200\nfeed = \"flows/access/get-message-id.csv\"",
        "# [[flow]]\n# file = \"flows/access/post-message.hurl\"",
    ] {
        assert!(config.contains(part), "no {part:?} in {config}");
    }
    let feed = read(folder, "flows/access/get-message-id.csv");
    assert_eq!(feed.lines().count(), 201, "{feed}");
    assert!(
        read(folder, "flows/access/get-messages.hurl")
            .contains("GET {{base_url}}/messages?page=2\n")
    );

    // Standard input gives the same, its first bytes included.
    let mut child = Command::new(env!("CARGO_BIN_EXE_hakaru"))
        .args(["flows", "from", "-", "--name", "piped"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("hakaru runs");
    let mut pipe = child.stdin.take().expect("a pipe");
    pipe.write_all(access_log().as_bytes()).expect("it is read");
    drop(pipe);
    assert_eq!(child.wait().expect("its end").code(), Some(0));
    assert_eq!(read(folder, "flows/piped/get-message-id.csv"), feed);

    // What is there is not replaced.
    let printed = check(folder, &["flows", "from", "access.log"], 2);
    assert!(printed.contains("is there already"), "{printed}");
    // The app of a configuration that others may not read is not for others in its copy either.
    let mode = |name: &str| {
        let file = std::fs::metadata(folder.join(name)).expect("a file");
        file.permissions().mode() & 0o777
    };
    let owners = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(folder.join("hakaru.toml"), owners).expect("it is ours");
    check(
        folder,
        &["flows", "from", "access.log", "--name", "again", "--writes"],
        0,
    );
    assert_eq!(mode("hakaru-again.toml"), 0o600);
    let beside = read(folder, "hakaru-again.toml");
    assert!(
        beside.contains("\n[[flow]]\nfile = \"flows/again/post-message.hurl\""),
        "{beside}"
    );
    assert_eq!(read(folder, "hakaru.toml"), config);
}

/// An app with a generated token: a form, the form's target, and a page after a redirect.
fn serve(listener: TcpListener) {
    let mut tokens = 0;
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { return };
        // Connections are closed after each response, so that one thread serves all.
        if let Some((line, body)) = request(&mut stream) {
            let (status, headers, page) = match line.as_str() {
                "GET /posts/new" => {
                    tokens += 1;
                    let form = format!(
                        "<form><input name=\"title\" value=\"\">\n<input type=\"hidden\" name=\"authenticity_token\" value=\"tok+{tokens:06}==\"></form>"
                    );
                    ("200 OK", String::new(), form)
                }
                "POST /posts"
                    if body
                        == format!(
                            "authenticity_token=tok%2B{tokens:06}%3D%3D&title=A%20day&password=hush"
                        ) =>
                {
                    (
                        "303 See Other",
                        format!("Location: /posts/{}\r\n", 40 + tokens),
                        String::new(),
                    )
                }
                line if line == format!("GET /posts/{}", 40 + tokens) => {
                    ("200 OK", String::new(), "A day".to_owned())
                }
                _ => (
                    "422 Unprocessable Content",
                    String::new(),
                    format!("{line} {body}"),
                ),
            };
            let response = format!(
                "HTTP/1.1 {status}\r\nContent-Type: text/html\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n{page}",
                page.len()
            );
            let _ = stream.write_all(response.as_bytes());
        }
    }
}

fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|bytes| *bytes > 0)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if header.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    Some((line, String::from_utf8_lossy(&body).into_owned()))
}

/// A browser's recording of another day: another token, another post.
const WALK: &str = r#"{"log": {
  "version": "1.2",
  "entries": [
    {"request": {"method": "GET", "url": "http://app.test/posts/new", "headers": [{"name": "Accept", "value": "text/html"}, {"name": "Cookie", "value": "sid=s3cr3t"}]},
     "response": {"status": 200, "headers": [], "content": {"mimeType": "text/html", "text": "<form><input name=\"title\" value=\"\">\n<input type=\"hidden\" name=\"authenticity_token\" value=\"tok+777777==\"></form>"}}},
    {"request": {"method": "GET", "url": "http://app.test/app.css", "headers": []},
     "response": {"status": 200, "headers": [], "content": {"mimeType": "text/css"}}},
    {"request": {"method": "POST", "url": "http://app.test/posts", "headers": [{"name": "Content-Type", "value": "application/x-www-form-urlencoded"}],
                 "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "authenticity_token=tok%2B777777%3D%3D&title=A+day&password=hush"}},
     "response": {"status": 303, "headers": [{"name": "Location", "value": "http://app.test/posts/17"}], "content": {"mimeType": "text/html", "text": ""}}},
    {"request": {"method": "GET", "url": "http://app.test/posts/17", "headers": []},
     "response": {"status": 200, "headers": [], "content": {"mimeType": "text/html", "text": "A day"}}},
    {"request": {"method": "GET", "url": "http://other.test/track", "headers": []},
     "response": {"status": 200, "headers": [], "content": {"mimeType": "text/plain", "text": ""}}}
  ]}}"#;

#[test]
fn a_browsers_walk_runs_again_with_the_tokens_of_the_day() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    std::fs::write(folder.join("walk.har"), WALK).expect("it is written");
    let printed = check(folder, &["flows", "from", "walk.har", "--writes"], 0);
    assert!(
        printed.contains("left out: entry 2: a static file"),
        "{printed}"
    );
    assert!(
        printed.contains("entry 5: http://other.test is another host"),
        "{printed}"
    );
    let flow = read(folder, "flows/walk/walk.hurl");
    for secret in ["hush", "s3cr3t", "777777"] {
        assert!(!flow.contains(secret), "{secret} in {flow}");
    }
    assert!(read(folder, "flows/walk/walk.csv").contains("hush"));
    assert_eq!(read(folder, "flows/walk/.gitignore"), "*.csv\n");

    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || serve(listener));
    let words = [
        "check",
        "flows/walk/walk.hurl",
        "--url",
        &url,
        "--csv",
        "flows/walk/walk.csv",
    ];
    check(folder, &words, 0);
    check(folder, &words, 0);
}

#[test]
fn what_requests_carried_is_in_the_feeds_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let line = |uri: &str, more: &str| {
        format!("time:2026-11-25T10:00:00+00:00\tmethod:POST\turi:{uri}\tstatus:204{more}\n")
    };
    let form = "\tcontent_type:application/x-www-form-urlencoded";
    let log = [
        line(
            "/login",
            &format!("{form}\tcookie:-\tbody:name=ada&password=hush"),
        ),
        line(
            "/login",
            &format!("{form}\tcookie:-\tbody:name=bob&password=hush2"),
        ),
        line(
            "/message",
            &format!("{form}\tcookie:s=1; t=2\tbody:text=\\x22a\\x22"),
        ),
        line(
            "/picture",
            "\tcontent_type:image/png\tcookie:s=1\tbody:\\x89PNG",
        ),
    ];
    std::fs::write(folder.join("access.log"), log.concat()).expect("it is written");
    let printed = check(folder, &["flows", "from", "access.log", "--writes"], 0);
    assert!(!printed.contains("left out"), "{printed}");
    let expected = [
        (
            "post-login",
            "POST {{base_url}}/login\nContent-Type: application/x-www-form-urlencoded\n`{{body}}`\n",
            "body\n\"name=ada&password=hush\"\n\"name=bob&password=hush2\"\n",
        ),
        (
            "post-message",
            "Content-Type: application/x-www-form-urlencoded\nCookie: {{cookie}}\n`{{body}}`\n",
            "cookie,body\n\"s=1; t=2\",\"text=\"\"a\"\"\"\n",
        ),
        (
            "post-picture",
            "Content-Type: image/png\nCookie: {{cookie}}\n`{{body base64Decode}}`\n",
            "cookie,body\n\"s=1\",\"iVBORw==\"\n",
        ),
    ];
    for (name, text, rows) in expected {
        let flow = read(folder, &format!("flows/access/{name}.hurl"));
        assert!(flow.ends_with(text), "{flow}");
        let path = format!("flows/access/{name}.csv");
        let feed = read(folder, &path);
        assert!(feed.starts_with(rows), "{feed}");
        let mode = std::fs::metadata(folder.join(&path))
            .expect("a file")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(read(folder, "flows/access/.gitignore").starts_with("*.csv\n"));
}

#[test]
fn the_rate_goes_by_minute_where_a_log_has_several() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // 30 requests in the first minute, 90 in the second, 60 in the third.
    let line = |second: usize| {
        let (minute, second) = (second / 60, second % 60);
        format!(
            "time:2026-11-25T10:{minute:02}:{second:02}+00:00\tmethod:GET\turi:/a\tstatus:200\n"
        )
    };
    let first = (0..60).step_by(2).map(line);
    let second = (60..120).flat_map(|at| vec![line(at); 1 + at % 2]);
    let log: String = first.chain(second).chain((120..180).map(line)).collect();
    std::fs::write(folder.join("access.log"), log).expect("it is written");
    check(folder, &["flows", "from", "access.log"], 0);
    let config = read(folder, "hakaru.toml");
    let rate = "rate = \"0.500/60000ms,1.500/60000ms,1.000/60000ms\"\nduration = \"180000ms\"";
    assert!(config.contains(rate), "{config}");
    // And the configuration is one: the load fails because nothing answers, not for its rate.
    let printed = check(
        folder,
        &["run", "--attach", "--url", "http://127.0.0.1:9"],
        5,
    );
    assert!(!printed.contains("rate"), "{printed}");
}

#[test]
fn what_is_no_record_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let refused = |name: &str, text: &str, why: &str| {
        std::fs::write(folder.join(name), text).expect("it is written");
        let printed = check(folder, &["flows", "from", name], 2);
        assert!(printed.contains(why), "{name}: {printed}");
        assert!(!folder.join("flows").exists());
    };
    refused("a.har", "{\"log\": {\n\"entries\": [", "this is no JSON");
    refused("b.har", "{\"log\":{}}", "has no `log.entries`");
    refused(
        "c.txt",
        "curl 'http://a.test",
        "line 1: this ' is not closed",
    );
    refused("d.txt", "hello\nworld\n", "no .har file");
    refused("e.log", "", "e.log is empty");
    check(folder, &["flows", "from", "missing.log"], 1);
    // Packed, as well as not.
    std::fs::write(folder.join("f.har"), WALK).expect("it is written");
    std::fs::write(folder.join("g.log"), access_log()).expect("it is written");
    let packed = Command::new("gzip")
        .args(["f.har", "g.log"])
        .current_dir(folder)
        .status();
    assert!(packed.expect("gzip").success());
    let whole = std::fs::read(folder.join("g.log.gz")).expect("it is there");
    std::fs::write(folder.join("cut.log.gz"), &whole[..whole.len() / 2]).expect("it is written");
    let printed = check(folder, &["flows", "from", "cut.log.gz"], 1);
    assert!(printed.contains("cut.log.gz cannot be read"), "{printed}");
    check(folder, &["flows", "from", "f.har.gz"], 0);
    check(folder, &["flows", "from", "g.log.gz"], 0);
}
