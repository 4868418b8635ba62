//! An nginx of a test's own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Returns a free port.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

/// A running nginx, which ends with the value.
pub struct Nginx(Child);

impl Nginx {
    /// Starts an nginx with the given directives in `http`, and waits until `port` accepts
    /// connections. All its files are in `folder`.
    pub fn start(folder: &Path, port: u16, http: &str) -> Nginx {
        Nginx::configure(folder, http);
        let child = Command::new("nginx")
            .arg("-p")
            .arg(folder)
            .arg("-c")
            .arg(folder.join("nginx.conf"))
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx; run bin/test");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        Nginx(child)
    }

    /// Writes `nginx.conf` with the given directives in `http`. All files of it are in `folder`.
    pub fn configure(folder: &Path, http: &str) {
        let configuration = format!(
            "daemon off; master_process off; pid {0}/pid; error_log {0}/error.log;\n\
             events {{ worker_connections 256; }}\n\
             http {{\n  \
               client_body_temp_path {0}/t1; proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n  \
               {http}\n\
             }}\n",
            folder.display()
        );
        fs::write(folder.join("nginx.conf"), configuration).expect("a configuration");
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
