//! nginx with a file of 100 bytes, on the server's core.

use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::apps::SERVER_CORE;

const READY: Duration = Duration::from_secs(10);

/// What an nginx serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// A file of 100 bytes.
    File,
    /// The same over HTTP/2.
    Http2,
    /// A login and lists of items as well.
    Shop,
}

const SHOP: &str = r#"
  default_type application/json;
  location = /login { add_header Set-Cookie "session=5f2b; Path=/"; return 200 '{"token":"t0k3n","user":{"id":7}}'; }
  location = /items { return 200 '{"items":[{"id":1,"name":"one"},{"id":2,"name":"two"},{"id":3,"name":"three"}]}'; }
  location = /me { if ($cookie_session != "5f2b") { return 403; } return 200 '{"id":7,"name":"seven"}'; }
"#;

/// A running nginx, ended on drop.
pub(crate) struct Nginx {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts one worker without logs on a free port.
    pub(crate) fn start(serves: Serves) -> Result<Nginx, Box<dyn Error>> {
        let folder = tempfile::Builder::new()
            .prefix("hakaru-bench-nginx-")
            .tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        fs::write(folder.path().join("index.html"), "x".repeat(100))?;
        let config = folder.path().join("nginx.conf");
        fs::write(
            &config,
            configuration(&folder.path().display().to_string(), port, serves),
        )?;
        let child = Command::new("taskset")
            .args(["-c", &SERVER_CORE.to_string(), "nginx", "-c"])
            .arg(&config)
            .stderr(Stdio::null())
            .spawn()?;
        let server = Nginx {
            child,
            url: format!("http://127.0.0.1:{port}/"),
            _folder: folder,
        };
        let end = Instant::now() + READY;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if Instant::now() > end {
                return Err("nginx does not answer; is it installed?".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a configuration with one process as master and worker, so ending the process ends all.
fn configuration(folder: &str, port: u16, serves: Serves) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    // The word that both nginx 1.22 and later ones know.
    let http2 = match serves {
        Serves::Http2 => " http2",
        Serves::File | Serves::Shop => "",
    };
    let shop = match serves {
        Serves::Shop => SHOP,
        Serves::File | Serves::Http2 => "",
    };
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors crit;\n\
         worker_rlimit_nofile 8192;\nevents {{ worker_connections 4096; }}\n\
         http {{\n{temporary}  access_log off;\n  keepalive_requests 100000000;\n  \
         server {{ listen 127.0.0.1:{port}{http2} backlog=4096; root {folder}; {shop}}}\n}}\n"
    )
}
