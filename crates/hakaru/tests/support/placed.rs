//! A Puma started by a test, with the agent of `hakaru agent`.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running Puma, which ends with the value.
pub struct Placed {
    child: Child,
    /// Folder of the rings.
    pub rings: PathBuf,
}

impl Placed {
    /// Starts Puma on `config.ru` in `folder`, with the agent placed by `program` beside the app.
    pub fn start(program: &Path, folder: &Path, port: u16, app: &str) -> Placed {
        let rings = folder.join("rings");
        let placed = Command::new(program)
            .arg("agent")
            .arg(folder.join("agent"))
            .arg("--rings")
            .arg(&rings)
            .output()
            .expect("hakaru runs");
        let printed = String::from_utf8_lossy(&placed.stdout).into_owned();
        let variables = printed
            .lines()
            .map(|line| line.split_once('=').expect("a variable"));
        std::fs::write(folder.join("config.ru"), app).expect("written");
        let child = Command::new("puma")
            .args([
                "-q",
                "-t",
                "2:2",
                "-b",
                &format!("tcp://127.0.0.1:{port}"),
                "config.ru",
            ])
            .current_dir(folder)
            .envs(variables)
            .stdout(Stdio::null())
            .spawn()
            .expect("puma; run bin/test");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::yield_now();
        }
        Placed { child, rings }
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
