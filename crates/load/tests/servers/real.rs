//! Loads against servers in real use: Puma, Go's net/http, nginx. Every outcome has its right name.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{load, load_until, millis, on_each_engine, plan, read_request, serve};
use crate::tls::{file as tls_file, trusting};
use load::Plan;
use recording::{Exchange, Outcome};
use scenario::{Scenario, Single};

/// Time limit of waiting for a server.
const PATIENCE: Duration = Duration::from_secs(60);

const RACK: &str = r#"
class Cut
  def each
    yield "begin"
    raise "cut off"
  end
end
run lambda { |env|
  case env["PATH_INFO"]
  when "/ok" then [200, { "content-type" => "text/plain" }, ["hello"]]
  when "/chunks" then [200, {}, Enumerator.new { |out| 3.times { out << "hello" } }]
  when "/empty" then [204, {}, []]
  when "/echo" then [200, {}, [env["rack.input"].read]]
  when "/error" then raise "on purpose"
  when "/slow" then sleep 2; [200, {}, []]
  when "/cut" then [200, { "content-length" => "100" }, Cut.new]
  else [404, {}, []]
  end
}
"#;

const GO: &str = r#"package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	http.HandleFunc("/protocol", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) })
	http.HandleFunc("/ok", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	http.HandleFunc("/chunks", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < 3; i++ {
			io.WriteString(w, "hello")
			w.(http.Flusher).Flush()
		}
	})
	http.HandleFunc("/empty", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	http.HandleFunc("/error", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	http.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { time.Sleep(2 * time.Second) })
	http.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	// With a certificate and a key over TLS, where HTTP/2 is on by itself.
	if len(os.Args) > 2 {
		panic(http.ServeTLS(listener, nil, os.Args[1], os.Args[2]))
	}
	panic(http.Serve(listener, nil))
}
"#;

/// Process of a server, ended on drop.
struct Server {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its own answer to TERM: nginx's workers end with their master.
        let pid = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("the port").port()
}

/// Waits until something listens there.
fn wait_for(address: SocketAddr, child: &mut Child) {
    let end = Instant::now() + PATIENCE;
    while TcpStream::connect(address).is_err() {
        let ended = child.try_wait().expect("the server's state");
        assert!(ended.is_none(), "the server ended: {ended:?}");
        assert!(Instant::now() < end, "nothing listens at {address}");
        std::thread::yield_now();
    }
}

/// Starts a program on a free port, passed to `prepare`.
fn start(program: &str, prepare: impl FnOnce(&mut Command, &Path, u16)) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    let port = free_port();
    let mut command = Command::new(program);
    command
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    prepare(&mut command, folder.path(), port);
    let child = command.spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{program}: {error}; bin/test unpacks it"));
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    wait_for(address, &mut child);
    Server {
        child,
        address,
        _folder: folder,
    }
}

fn puma() -> Server {
    let puma = std::env::var("HAKARU_TEST_PUMA").unwrap_or("puma".into());
    start(&puma, |command, folder, port| {
        fs::write(folder.join("config.ru"), RACK).expect("config.ru");
        let bind = format!("tcp://127.0.0.1:{port}");
        command
            .args([
                "-q",
                "-t",
                "4:4",
                "-e",
                "production",
                "-b",
                &bind,
                "config.ru",
            ])
            .env("RACK_ENV", "production");
    })
}

fn nginx(per_connection: u32) -> Server {
    let silent = serve(|mut stream| while read_request(&mut stream).is_some() {});
    start("nginx", |command, folder, port| {
        let config = format!(
            "daemon off; pid nginx.pid; error_log stderr crit; events {{}}\n\
             http {{ access_log off; client_body_temp_path body; proxy_temp_path proxy;\n\
             fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n\
             http2 on; keepalive_requests {per_connection};\n\
             server {{ listen 127.0.0.1:{port};\n\
             location /ok {{ return 200 'hello'; }}\n\
             location /empty {{ return 204; }}\n\
             location /moved {{ return 301 /ok; }}\n\
             location /error {{ return 500; }}\n\
             location /cut {{ return 444; }}\n\
             location /slow {{ proxy_pass http://{silent}; }}\n\
             location / {{ return 404; }} }} }}\n"
        );
        fs::write(folder.join("nginx.conf"), config).expect("nginx.conf");
        let prefix = folder.display().to_string();
        command.args(["-p", &prefix, "-c", "nginx.conf"]);
    })
}

fn go(arguments: &[PathBuf]) -> Server {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("main.go"), GO).expect("main.go");
    let built = Command::new("go")
        .args(["build", "-o", "server", "main.go"])
        .current_dir(folder.path())
        .output()
        .expect("go runs; bin/test unpacks it");
    assert!(built.status.success(), "{built:?}");
    let mut child = Command::new(folder.path().join("server"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    out.read_line(&mut line).expect("its address");
    Server {
        child,
        address: line.trim().parse().expect("an address"),
        _folder: folder,
    }
}

/// Runs a short load of one path: every request ends with the given outcome and status, and the
/// given body length, if any.
fn check(server: &Server, method: &str, path: &str, expected: (Outcome, u16, Option<u64>)) {
    let single = Single {
        method: method.to_owned(),
        body: match method {
            "POST" => b"sent".to_vec(),
            _ => Vec::new(),
        },
        ..Single::get(&format!("http://{}{path}", server.address))
    };
    // Only an answer that is to come too late is not waited for, however busy the machine.
    let patience = match expected.0 {
        Outcome::TimedOut => 400,
        _ => 20_000,
    };
    let plan = Plan {
        answer_timeout: millis(patience),
        drain: millis(patience + 200),
        ..plan(3)
    };
    let scenario = Scenario::request(&single).expect("a request");
    let (exchanges, _, result) = load(&plan, &scenario);
    assert!(exchanges.len() >= 3, "{method} {path}: {exchanges:?}");
    let mut count = 0;
    for exchange in &exchanges {
        let length = expected.2.map(|_| exchange.body_bytes);
        let came = (exchange.outcome, exchange.status, length);
        // The load's end may find a connection that is being made anew.
        if exchange.outcome == Outcome::Unanswered {
            assert_eq!(
                (exchange.status, exchange.body_bytes),
                (0, 0),
                "{exchange:?}"
            );
            continue;
        }
        count += 1;
        assert_eq!(came, expected, "{method} {path}: {:?}", result.failures);
    }
    assert!(count > 0, "{method} {path}: {exchanges:?}");
}

/// Checks the responses common to all servers.
fn check_common(server: &Server) {
    check(server, "GET", "/ok", (Outcome::Ok, 200, Some(5)));
    check(server, "HEAD", "/ok", (Outcome::Ok, 200, Some(0)));
    check(server, "GET", "/empty", (Outcome::Ok, 204, Some(0)));
    check(server, "GET", "/missing", {
        let length = body_of(server, "/missing");
        (Outcome::CheckFailed, 404, Some(length))
    });
    check(server, "GET", "/error", {
        let length = body_of(server, "/error");
        (Outcome::ServerError, 500, Some(length))
    });
}

/// Checks a response after the deadline. To be checked last: what was given up still holds the
/// server's threads.
fn check_slow(server: &Server) {
    check(server, "GET", "/slow", (Outcome::TimedOut, 0, Some(0)));
}

/// Returns the length of the server's own page for a path.
fn body_of(server: &Server, path: &str) -> u64 {
    let url = format!("http://{}{path}", server.address);
    let scenario = Scenario::single(&url).expect("a URL");
    let mut length = 0;
    let ran = load::check_once(&Plan::default(), &scenario, &mut |checked| {
        length = checked.body_bytes;
    });
    ran.expect("an answer");
    length
}

#[test]
fn puma_is_understood() {
    let server = puma();
    check_common(&server);
    check(&server, "GET", "/chunks", (Outcome::Ok, 200, Some(15)));
    check(&server, "POST", "/echo", (Outcome::Ok, 200, Some(4)));
    // Some versions put an answer of their own behind the part that was sent.
    check(&server, "GET", "/cut", (Outcome::Disconnected, 200, None));
    check_slow(&server);
}

#[test]
fn go_is_understood() {
    let server = go(&[]);
    check_common(&server);
    check(&server, "GET", "/chunks", (Outcome::Ok, 200, Some(15)));
    check(&server, "POST", "/echo", (Outcome::Ok, 200, Some(4)));
    check(
        &server,
        "GET",
        "/cut",
        (Outcome::Disconnected, 200, Some(5)),
    );
    check_slow(&server);
}

/// Go's server speaks HTTP/2 over TLS without any setting.
#[test]
fn go_is_understood_over_http2() {
    let server = go(&[tls_file("cert.pem"), tls_file("key.pem")]);
    let check = |method: &str, path: &str, body: &[u8], expected: (Outcome, u16, u64)| {
        let single = Single {
            method: method.to_owned(),
            body: body.to_vec(),
            ..Single::get(&format!("https://{}{path}", server.address))
        };
        let scenario = Scenario::request(&single).expect("a request");
        // However busy the machine is: until enough have ended.
        let plan = Plan {
            streams: 10,
            trust: trusting(),
            duration: millis(60_000),
            ..plan(20)
        };
        let has_ended = |one: &&Exchange| one.outcome != Outcome::Unanswered;
        for plan in on_each_engine(&plan) {
            let (exchanges, _, result) = load_until(&plan, &scenario, |so_far| {
                so_far.iter().filter(has_ended).count() > 40
            });
            for one in exchanges.iter().filter(has_ended) {
                let came = (one.outcome, one.status, one.body_bytes);
                let name = format!("{} {path}: {:?}", plan.engine, result.failures);
                assert_eq!(came, expected, "{name}");
            }
        }
    };
    check("GET", "/ok", b"", (Outcome::Ok, 200, 5));
    check(
        "GET",
        "/protocol",
        b"",
        (Outcome::Ok, 200, "HTTP/2.0".len() as u64),
    );
    check("HEAD", "/ok", b"", (Outcome::Ok, 200, 0));
    check("GET", "/chunks", b"", (Outcome::Ok, 200, 15));
    check("GET", "/empty", b"", (Outcome::Ok, 204, 0));
    check("GET", "/error", b"", (Outcome::ServerError, 500, 0));
    check("GET", "/cut", b"", (Outcome::Disconnected, 200, 5));
    // Longer than the server's window.
    let body = vec![b'x'; 300_000];
    check("POST", "/echo", &body, (Outcome::Ok, 200, 300_000));
}

/// nginx closes each connection after five requests, which is not a failure.
#[test]
fn nginx_is_understood() {
    let server = nginx(5);
    check_common(&server);
    let moved = body_of(&server, "/moved");
    check(&server, "GET", "/moved", (Outcome::Ok, 301, Some(moved)));
    check(&server, "GET", "/cut", (Outcome::Disconnected, 0, Some(0)));
    check_slow(&server);
}

/// nginx sends GOAWAY on each connection after five requests, or a thousand, with others under way.
#[test]
fn nginx_loses_nothing_over_http2() {
    for (per_connection, streams, wanted) in [(5, 20, 1_000), (1_000, 100, 20_000)] {
        let server = nginx(per_connection);
        let url = format!("http://{}/ok", server.address);
        let scenario = Scenario::single(&url).expect("a URL");
        let plan = Plan {
            streams,
            duration: millis(500),
            ..plan(2 * streams)
        };
        let mut answered = 0;
        while answered < wanted {
            let (exchanges, _, result) = load(&plan, &scenario);
            assert_eq!(result.failures, []);
            let right = |one: &&Exchange| {
                (one.outcome, one.status, one.body_bytes) == (Outcome::Ok, 200, 5)
            };
            let count = exchanges.iter().filter(right).count();
            assert!(count > 0, "{exchanges:?}");
            answered += count;
        }
    }
}

const NODE: &str = r#"
const server = require("http2").createServer((request, response) => {
  if (request.url === "/cut") { response.write("begin"); response.stream.close(8); return; }
  let bytes = 0;
  request.on("data", piece => bytes += piece.length);
  request.on("end", () => response.end("got " + bytes));
});
server.listen(+process.argv[2], "127.0.0.1");
"#;

#[test]
fn node_is_understood_over_http2() {
    let server = start("node", |command, folder, port| {
        fs::write(folder.join("server.js"), NODE).expect("server.js");
        command.args(["server.js", &port.to_string()]);
    });
    for (path, outcome) in [("/a", Outcome::Ok), ("/cut", Outcome::Disconnected)] {
        let single = Single {
            method: "POST".to_owned(),
            body: vec![b'x'; 200_000],
            ..Single::get(&format!("http://{}{path}", server.address))
        };
        let scenario = Scenario::request(&single).expect("a request");
        let plan = Plan {
            streams: 10,
            ..plan(20)
        };
        let (exchanges, _, result) = load(&plan, &scenario);
        for exchange in &exchanges {
            assert_eq!(exchange.outcome, outcome, "{path}: {:?}", result.failures);
        }
        if outcome == Outcome::Ok {
            assert!(exchanges.iter().all(|one| one.body_bytes == 10));
        }
    }
}
