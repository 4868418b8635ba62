//! The flags of a load once more, as a generator elsewhere is given them.

use std::path::Path;
use std::time::Duration;

use super::LoadArgs;

impl LoadArgs {
    /// What a generator needs to know: all but where results are shown, who carries the load out,
    /// and when.
    pub(crate) fn for_generator(&self) -> Vec<String> {
        let mut flags = Flags::default();
        flags.many("--flow", &self.flows);
        flags.one("--csv", self.csv.as_ref());
        flags.one("--connections", self.connections);
        flags.time("--duration", self.duration);
        flags.time("--warmup", self.warmup);
        flags.one("--threads", Some(self.threads));
        flags.one("--engine", Some(self.engine.name()));
        flags.one("--rate", self.rate.as_ref());
        flags.set("--poisson", self.poisson);
        flags.one("--burst", self.burst);
        flags.one("--method", self.method.as_ref());
        flags.many("--header", &self.headers);
        flags.one("--body", self.body.as_ref());
        flags.set("--no-keepalive", self.no_keepalive);
        flags.set("--http2", self.http2);
        flags.one("--streams", self.streams);
        flags.set("--keep-bodies", self.keep_bodies);
        flags.many("--host-ok", &self.host_ok);
        flags.one("--connect-to", self.reach.connect_to.as_ref());
        flags.one("--proxy", self.reach.proxy.as_ref());
        flags.one("--ca", self.reach.ca.as_deref().map(Path::display));
        flags.set("--insecure", self.reach.insecure);
        flags.time("--timeout", self.reach.timeout);
        flags.time("--connect-timeout", self.connect_timeout);
        flags.one("--seed", self.seed);
        flags.many("--expect", &self.expectations);
        let mut words = flags.0;
        if let Some(url) = &self.url {
            words.extend(["--".to_owned(), url.clone()]);
        }
        words
    }
}

/// Flags as words; a value stands behind `=`, so that it may begin with a dash.
#[derive(Default)]
struct Flags(Vec<String>);

impl Flags {
    fn one(&mut self, name: &str, value: Option<impl ToString>) {
        let word = value.map(|value| format!("{name}={}", value.to_string()));
        self.0.extend(word);
    }

    fn many(&mut self, name: &str, values: &[String]) {
        for value in values {
            self.one(name, Some(value));
        }
    }

    fn time(&mut self, name: &str, time: Option<Duration>) {
        self.one(name, time.map(|time| format!("{}ms", time.as_millis())));
    }

    fn set(&mut self, name: &str, is_set: bool) {
        self.0.extend(is_set.then(|| name.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::cli::{Cli, Command};

    fn load(words: &[String]) -> Box<super::LoadArgs> {
        let typed = ["hakaru".to_owned(), "load".to_owned()];
        let cli = Cli::try_parse_from(typed.iter().chain(words));
        match cli.unwrap_or_else(|error| panic!("{error}")).command {
            Command::Load(args) => args,
            _ => panic!("another command"),
        }
    }

    /// Flags of a load with flows.
    const FLOWS: [&str; 38] = [
        "--flow",
        "a.hurl:3",
        "--flow=b.hurl",
        "--csv",
        "u=u.csv",
        "--connections",
        "40",
        "--duration",
        "1500ms",
        "--warmup",
        "2s",
        "--threads",
        "2",
        "--engine",
        "epoll",
        "--rate",
        "10..20/3s",
        "--burst",
        "3",
        "--http2",
        "--streams",
        "4",
        "--keep-bodies",
        "--host-ok",
        "app",
        "--connect-to",
        "10.0.0.1:80",
        "--insecure",
        "--timeout",
        "3s",
        "--connect-timeout",
        "1s",
        "--seed",
        "7",
        "--expect",
        "p99 < 200ms",
        "--expect=errors = 0",
        "http://app/",
    ];
    /// Those that do not go with flows.
    const SINGLE: [&str; 13] = [
        "--method",
        "PUT",
        "--header=-x: 1",
        "--body=-",
        "--no-keepalive",
        "--rate",
        "5",
        "--poisson",
        "--proxy",
        "http://proxy:3128",
        "--ca",
        "ca.pem",
        "http://app/",
    ];

    /// What a generator is given means what was typed; every flag of `hakaru load` is either tried
    /// here or named as left out.
    #[test]
    fn a_generator_is_given_what_was_typed() {
        const LEFT_OUT: [&str; 21] = [
            "find_max",
            "json",
            "html",
            "series",
            "hdr",
            "prometheus",
            "otlp",
            "part",
            "start_at",
            "result",
            "on",
            "help",
            "color",
            "lang",
            "kubernetes",
            "parallelism",
            "image",
            "namespace",
            "context",
            "memory",
            "dry_run",
        ];
        let check = |typed: &[&str]| {
            let typed: Vec<String> = typed.iter().map(ToString::to_string).collect();
            let before = load(&typed);
            let after = load(&before.for_generator());
            assert_eq!(format!("{before:?}"), format!("{after:?}"));
        };
        check(&FLOWS);
        check(&SINGLE);
        let command = <Cli as clap::CommandFactory>::command();
        let load = command.find_subcommand("load").expect("load");
        for flag in load.get_arguments() {
            let id = flag.get_id().as_str();
            let long = flag.get_long().map(|long| format!("--{long}"));
            let is_tried = long.is_none_or(|long| {
                let named = |word: &&str| word.split('=').next() == Some(long.as_str());
                FLOWS.iter().chain(&SINGLE).any(named)
            });
            assert!(
                is_tried || LEFT_OUT.contains(&id),
                "{id} reaches no generator"
            );
        }
    }
}
