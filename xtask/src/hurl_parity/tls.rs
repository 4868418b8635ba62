//! An nginx with TLS, HTTP/2 and HTTP/1.1 in front of the server, reporting to the server whose
//! certificate came.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::cases::FILES;
use crate::run::{Outcome, target_folder, write};

/// The proxy, ended on drop.
pub(super) struct Tls {
    pub(super) port: u16,
    child: Child,
}

impl Tls {
    pub(super) fn start(server: u16) -> Outcome<Tls> {
        let folder = target_folder().join("hurl-parity-tls");
        let failed = |error| format!("cannot use {}: {error}", folder.display());
        fs::create_dir_all(&folder).map_err(failed)?;
        for (name, bytes) in FILES {
            fs::write(folder.join(name), bytes).map_err(failed)?;
        }
        let listener = TcpListener::bind("127.0.0.1:0");
        let port = listener
            .and_then(|listener| listener.local_addr())
            .map_err(failed)?
            .port();
        let file = folder.join("nginx.conf");
        write(&file, &configuration(&folder, port, server))?;
        let mut command = Command::new("nginx");
        command.arg("-p").arg(&folder).arg("-c").arg(&file);
        let mut child = command.stderr(Stdio::null()).spawn().map_err(|error| {
            format!("cannot run nginx: {error}; `cargo xtask setup --for test` unpacks it")
        })?;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(format!(
                    "nginx ended with {status}; see {}/error.log",
                    folder.display()
                ));
            }
            std::thread::yield_now();
        }
        Ok(Tls { port, child })
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn configuration(folder: &Path, port: u16, server: u16) -> String {
    let folder = folder.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {folder}/{kind};\n"))
        .concat();
    format!(
        "daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;\n\
         events {{ }}\nhttp {{\n{temporary}access_log off;\n\
         server {{ listen 127.0.0.1:{port} ssl http2;\n\
         ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;\n\
         ssl_verify_client optional_no_ca;\n\
         location / {{ proxy_pass http://127.0.0.1:{server}; proxy_set_header Host $http_host;\n\
         proxy_set_header X-Client $ssl_client_s_dn; proxy_http_version 1.1; }} }} }}\n"
    )
}
