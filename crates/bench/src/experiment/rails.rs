//! The blog in a separate folder, started in different ways.

use std::error::Error;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::program;

/// A copy of `apps/blog` with data.
pub(crate) struct Blog {
    program: PathBuf,
    pub(crate) folder: PathBuf,
    /// URL of the app.
    pub(crate) port: u16,
}

/// A way to start the blog.
pub(crate) struct Start<'a> {
    /// A line for `sh`, in the blog's folder.
    pub(crate) command: &'a str,
    /// Port for requests; a proxy in front of the app may have a separate one.
    pub(crate) port: u16,
    /// Variables of the app's environment.
    pub(crate) env: &'a [(&'a str, &'a str)],
    /// Concurrent connections.
    pub(crate) connections: u32,
}

impl Blog {
    /// Copies the blog below `parent`, and seeds both databases, unless done already.
    pub(crate) fn new(parent: &Path) -> Result<Blog, Box<dyn Error>> {
        let program = std::env::var_os("HAKARU_BENCH_PROGRAM")
            .ok_or("HAKARU_BENCH_PROGRAM is not set; run it as `cargo xtask experiment`")?;
        let folder = parent.join("blog");
        let blog = Blog {
            program: program.into(),
            folder,
            port: free_port()?,
        };
        if !blog.folder.join("seeded").exists() {
            let _ = fs::remove_dir_all(&blog.folder);
            program::copy("blog", &blog.folder)?;
            for environment in ["development", "production"] {
                let mut seed = Command::new("bundle");
                seed.args(["exec", "rake", "db:schema:load", "db:seed"])
                    .current_dir(&blog.folder)
                    .env("RAILS_ENV", environment)
                    .env("DISABLE_DATABASE_ENVIRONMENT_CHECK", "1");
                program::done(&mut seed)?;
            }
            fs::write(blog.folder.join("seeded"), "")?;
        }
        // The page that `ab` was pointed at.
        let flow = "GET {{base_url}}/\nHTTP 200\n";
        fs::write(blog.folder.join("flows/top.hurl"), flow)?;
        Ok(blog)
    }

    /// Runs the program with a configuration for a start; returns the JSON.
    pub(crate) fn hakaru(
        &self,
        start: &Start<'_>,
        words: &[&str],
    ) -> Result<Value, Box<dyn Error>> {
        let Start {
            command,
            port,
            env,
            connections,
        } = start;
        let env: Vec<String> = env
            .iter()
            .map(|(name, value)| format!("{name} = \"{value}\""))
            .collect();
        let config = format!(
            "[target]\ncommand = '''{command}'''\nurl = \"http://127.0.0.1:{port}/\"\nenv = {{ {} }}\nready_timeout = \"60s\"\n\
             [load]\nconnections = {connections}\n[[flow]]\nfile = \"flows/top.hurl\"\n",
            env.join(", ")
        );
        fs::write(self.folder.join("experiment.toml"), config)?;
        let output = Command::new(&self.program)
            .args(words)
            .args(["--config", "experiment.toml", "--json"])
            .current_dir(&self.folder)
            .output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("hakaru {}: {error}: {said}", words.join(" ")).into()
        })
    }
}

pub(crate) fn free_port() -> Result<u16, Box<dyn Error>> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
