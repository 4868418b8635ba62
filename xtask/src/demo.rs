//! The chat app under load, and its report.

use std::process::Command;

use crate::run::{Outcome, cargo, root, run, target_folder};
use crate::servers::{self, Server};
use crate::setup::{self, Options, Purpose};

pub(crate) fn task(arguments: &[String]) -> Outcome<()> {
    let (options, rest) = setup::read_options(arguments, Some(Purpose::Demo))?;
    setup::prepare(&options)?;
    run(&mut cargo(&["build", "--release", "--package", "hakaru"]))?;
    let server = start_database(&options)?;
    let chat = root().join("apps/chat");
    let in_chat = |mut command: Command| {
        command.current_dir(&chat);
        match &server {
            Some(server) => command.env("DATABASE_URL", &server.url),
            None => command.env_remove("DATABASE_URL"),
        };
        command
    };
    eprintln!("demo: filling the chat's database");
    let mut seed = Command::new("ruby");
    seed.args(["seed.rb", "--reset"]);
    run(&mut in_chat(seed))?;
    let mut hakaru = Command::new(target_folder().join("release/hakaru"));
    hakaru.arg("run").args(rest);
    run(&mut in_chat(hakaru))
}

fn start_database(options: &Options) -> Outcome<Option<Server>> {
    if !options.mariadb {
        return Ok(None);
    }
    eprintln!("demo: starting a MariaDB that goes when the demo ends");
    servers::mariadb().map(Some)
}
