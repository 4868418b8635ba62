//! `hakaru.toml` as typed. Every key is documented in `docs/config.md`.

pub(crate) mod host;
pub(crate) mod schema;
pub(crate) mod step;
mod typed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use crate::exit::{Exit, Failure};

/// The file's name where none is given.
pub(crate) const FILE_NAME: &str = "hakaru.toml";

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    pub(crate) target: Target,
    pub(crate) load: Load,
    pub(crate) compare: Compare,
    #[serde(rename = "flow", deserialize_with = "flows")]
    pub(crate) flows: Vec<Flow>,
    #[serde(deserialize_with = "typed::texts")]
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) score: Score,
    pub(crate) schema: schema::Schema,
    #[serde(rename = "host", deserialize_with = "hosts")]
    pub(crate) hosts: Vec<host::Host>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Target {
    pub(crate) command: Option<String>,
    pub(crate) directory: Option<PathBuf>,
    pub(crate) url: Option<String>,
    pub(crate) ca: Option<PathBuf>,
    pub(crate) insecure: bool,
    #[serde(deserialize_with = "typed::texts")]
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) before: Option<String>,
    #[serde(deserialize_with = "duration")]
    pub(crate) before_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) ready_timeout: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) stop_timeout: Option<Duration>,
    /// Folder of the rings of a running app.
    pub(crate) rings: Option<PathBuf>,
    pub(crate) database: Option<String>,
    pub(crate) database_pool: Option<u32>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) database_host_ok: Vec<String>,
    #[serde(deserialize_with = "one_or_many")]
    pub(crate) host_ok: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Load {
    pub(crate) connections: Option<u32>,
    pub(crate) rate: Option<Rate>,
    /// A file with the due time and the flow of each request.
    pub(crate) arrivals: Option<PathBuf>,
    /// A file with the flow of each turn.
    pub(crate) order: Option<PathBuf>,
    #[serde(deserialize_with = "duration")]
    pub(crate) duration: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) warmup: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) timeout: Option<Duration>,
    pub(crate) generator_threads: Option<u32>,
    pub(crate) seed: Option<u64>,
    pub(crate) keep_bodies: bool,
    pub(crate) level_up: Option<LevelUp>,
}

/// Requests per second.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Rate {
    PerSecond(f64),
    /// Stages, as read by `hakaru load --rate`.
    Stages(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LevelUp {
    pub(crate) users: u32,
    pub(crate) max: u32,
    #[serde(default, deserialize_with = "duration")]
    pub(crate) slow: Option<Duration>,
    #[serde(default, deserialize_with = "duration")]
    pub(crate) calm: Option<Duration>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Compare {
    #[serde(deserialize_with = "duration")]
    pub(crate) budget: Option<Duration>,
    pub(crate) blocks: Option<usize>,
    #[serde(deserialize_with = "duration")]
    pub(crate) segment: Option<Duration>,
    #[serde(deserialize_with = "duration")]
    pub(crate) warmup: Option<Duration>,
    pub(crate) build: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    pub(crate) file: Option<PathBuf>,
    #[serde(default = "one")]
    pub(crate) weight: u32,
    pub(crate) feed: Option<PathBuf>,
    /// Think time as typed; [`scenario::ThinkTime::parse`] reads the text.
    pub(crate) think: Option<String>,
    #[serde(default)]
    pub(crate) cache: bool,
    /// Path of the WebSocket, opened after the file's requests.
    pub(crate) connect: Option<String>,
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    #[serde(default = "one_u64")]
    pub(crate) rounds: u64,
    #[serde(default, rename = "step")]
    pub(crate) steps: Vec<step::Step>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Score {
    pub(crate) rules: Vec<Rule>,
    pub(crate) captures: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    #[serde(rename = "match")]
    pub(crate) pattern: String,
    pub(crate) status: Option<u16>,
    pub(crate) points: f64,
    #[serde(default = "one_u64")]
    pub(crate) per: u64,
}

fn hosts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<host::Host>, D::Error> {
    let hosts: Vec<host::Host> = typed::tables(deserializer, "host")?;
    let mut names: Vec<&str> = hosts.iter().map(|host| host.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(de::Error::custom(format!(
            "two hosts are named {}",
            pair[0]
        ))),
        None => Ok(hosts),
    }
}

/// Each has something to do.
fn flows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Flow>, D::Error> {
    let flows: Vec<Flow> = typed::tables(deserializer, "flow")?;
    let idle = |flow: &Flow| flow.file.is_none() && flow.connect.is_none();
    match flows.iter().any(idle) {
        true => Err(de::Error::custom(
            "a flow needs `file` (requests), `connect` (a WebSocket), or both",
        )),
        false => Ok(flows),
    }
}

/// A text, or a list of texts.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text or a list of texts")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(one) => vec![one],
        OneOrMany::Many(many) => many,
    })
}

fn one() -> u32 {
    1
}

fn one_u64() -> u64 {
    1
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    typed::duration(deserializer).map(Some)
}

/// The config file with the file's folder, the base of relative paths.
pub(crate) struct Loaded {
    pub(crate) config: Config,
    pub(crate) folder: PathBuf,
    /// `None` when there is no file and none was asked for.
    pub(crate) path: Option<PathBuf>,
}

impl Loaded {
    /// Returns the part of the file on loads, for remote generators: no command, no database and no
    /// host of the app.
    ///
    /// # Errors
    /// [`Exit::Usage`] when the file cannot be read any more.
    pub(crate) fn of_load(&self) -> Result<String, Failure> {
        const TABLES: [&str; 4] = ["flow", "load", "score", "variables"];
        let Some(path) = &self.path else {
            return Ok(String::new());
        };
        let mut table: toml::Table = fs::read_to_string(path)
            .map_err(|error| error.to_string())
            .and_then(|text| toml::from_str(&text).map_err(|error| error.to_string()))
            .map_err(|error| Failure::usage(format!("cannot read {}: {error}", path.display())))?;
        table.retain(|name, _| TABLES.contains(&name));
        if let Some(url) = &self.config.target.url {
            let target = toml::Table::from_iter([("url".to_owned(), url.as_str().into())]);
            table.insert("target".to_owned(), target.into());
        }
        Ok(table.to_string())
    }
}

/// Reads the text of a config file; errors name `path`.
///
/// # Errors
/// [`Exit::Usage`] with the line and what is wrong there.
pub(crate) fn of_text(text: &str, path: &Path) -> Result<Config, Failure> {
    toml::from_str(text).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!(
                "{} cannot be used: {}; `hakaru help config` lists the keys",
                path.display(),
                typed::explain(error.to_string().trim_end())
            ),
        )
    })
}

/// Reads the file asked for, or `hakaru.toml` in `folder` if there is one.
pub(crate) fn load(asked: Option<&Path>, folder: &Path) -> Result<Loaded, Failure> {
    let path = match asked {
        Some(path) => folder.join(path),
        None => folder.join(FILE_NAME),
    };
    if asked.is_none() && !path.exists() {
        return Ok(Loaded {
            config: Config::default(),
            folder: folder.to_owned(),
            path: None,
        });
    }
    let text = fs::read_to_string(&path).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("cannot read {}: {error}", path.display()),
        )
    })?;
    let config = of_text(&text, &path)?;
    let folder = path
        .parent()
        .map_or_else(|| folder.to_owned(), Path::to_owned);
    Ok(Loaded {
        config,
        folder,
        path: Some(path),
    })
}
