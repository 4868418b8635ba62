//! nginx with a file of 100 bytes, on the server's core.

use std::error::Error;
use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::apps::SERVER_CORE;

const READY: Duration = Duration::from_secs(10);

/// A running nginx, ended on drop.
pub(crate) struct Nginx {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Starts one worker without logs on a free port, with HTTP/2 when asked for.
    pub(crate) fn start(http2: bool) -> Result<Nginx, Box<dyn Error>> {
        let folder = tempfile::Builder::new()
            .prefix("hakaru-bench-nginx-")
            .tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        fs::write(folder.path().join("index.html"), "x".repeat(100))?;
        let config = folder.path().join("nginx.conf");
        fs::write(
            &config,
            configuration(&folder.path().display().to_string(), port, http2),
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
fn configuration(folder: &str, port: u16, http2: bool) -> String {
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .iter()
        .map(|kind| format!("  {kind}_temp_path {folder}/{kind};\n"))
        .collect();
    // The word that both nginx 1.22 and later ones know.
    let http2 = if http2 { " http2" } else { "" };
    format!(
        "daemon off;\nmaster_process off;\npid {folder}/pid;\nerror_log {folder}/errors crit;\n\
         worker_rlimit_nofile 8192;\nevents {{ worker_connections 4096; }}\n\
         http {{\n{temporary}  access_log off;\n  keepalive_requests 100000000;\n  \
         server {{ listen 127.0.0.1:{port}{http2} backlog=4096; root {folder}; }}\n}}\n"
    )
}
