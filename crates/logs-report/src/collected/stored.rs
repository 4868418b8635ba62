//! Collected facts as bytes for a file: all input of a page, so a later program may draw other
//! conclusions.

use std::io::{Read, Write};
use std::time::Duration;

use collect::follow::{Database, Followed, Inside, Log};
use collect::message::UnitEnd;
use collect::usage::Usage;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use logs::facts::Facts;
use remote::clock::Offset;
use serde::{Deserialize, Serialize};

use super::Collected;

/// Format and version of the bytes; other versions are not read.
const FORMAT: &str = "hakaru-hosts";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u32,
    elapsed_s: f64,
    hosts: Vec<Host>,
}

#[derive(Serialize, Deserialize)]
struct Host {
    name: String,
    roles: Vec<String>,
    /// Why there are no facts.
    error: Option<String>,
    facts: Option<HostFacts>,
}

#[derive(Serialize, Deserialize)]
struct HostFacts {
    cores: u32,
    core_limit: Option<f64>,
    usage: Option<Usage>,
    clock: Option<Clock>,
    logs: Vec<LogFacts>,
    database: Option<Database>,
    #[serde(default)]
    inside: Option<Inside>,
    units: Vec<UnitEnd>,
    began_ns: Option<i64>,
    lost: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Clock {
    nanos: i64,
    bound_ns: u64,
    is_steady: bool,
}

#[derive(Serialize, Deserialize)]
struct LogFacts {
    path: String,
    bytes: u64,
    truncations: u64,
    incomplete: u64,
    error: Option<String>,
    is_slow: bool,
    facts: Option<Facts>,
}

/// Returns the bytes of what was collected in a time.
pub fn bytes(hosts: &[Collected], elapsed: Duration) -> Vec<u8> {
    let document = Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        elapsed_s: elapsed.as_secs_f64(),
        hosts: hosts.iter().map(host).collect(),
    };
    let text =
        serde_json::to_vec(&document).expect("maps have text keys and nothing else can fail");
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    let written = packed.write_all(&text).and_then(|()| packed.finish());
    written.expect("memory takes all bytes")
}

/// Returns what was collected, and in which time.
///
/// # Errors
/// Bytes of another version, or damaged ones; as a sentence.
pub fn read(bytes: &[u8]) -> Result<(Vec<Collected>, Duration), String> {
    let mut text = Vec::new();
    let unpacked = GzDecoder::new(bytes).read_to_end(&mut text);
    unpacked.map_err(|error| format!("what the hosts recorded is damaged: {error}"))?;
    let document: Document = serde_json::from_slice(&text)
        .map_err(|error| format!("what the hosts recorded cannot be read: {error}"))?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(format!(
            "what the hosts recorded has version {} of {}; this program reads version {VERSION}",
            document.version, document.format
        ));
    }
    let hosts = document.hosts.into_iter().map(collected);
    let elapsed = Duration::try_from_secs_f64(document.elapsed_s).unwrap_or_default();
    Ok((hosts.collect(), elapsed))
}

fn host(one: &Collected) -> Host {
    Host {
        name: one.name.clone(),
        roles: one.roles.clone(),
        error: one.followed.as_ref().err().cloned(),
        facts: one.followed.as_ref().ok().map(facts),
    }
}

fn facts(followed: &Followed) -> HostFacts {
    HostFacts {
        cores: followed.cores,
        core_limit: followed.core_limit,
        usage: followed.usage.clone(),
        clock: followed.clock.map(|clock| Clock {
            nanos: clock.nanos,
            bound_ns: clock.bound_ns,
            is_steady: clock.is_steady,
        }),
        logs: followed.logs.iter().map(log_facts).collect(),
        database: followed.database.clone(),
        inside: followed.inside.clone(),
        units: followed.units.clone(),
        began_ns: followed.began_ns,
        lost: followed.lost.clone(),
    }
}

fn log_facts(log: &Log) -> LogFacts {
    LogFacts {
        path: log.path.clone(),
        bytes: log.bytes,
        truncations: log.truncations,
        incomplete: log.incomplete,
        error: log.error.clone(),
        is_slow: log.is_slow,
        facts: log.digest.as_ref().map(logs::Digest::facts),
    }
}

fn collected(host: Host) -> Collected {
    let followed = match (host.facts, host.error) {
        (Some(facts), _) => Ok(followed(facts)),
        (None, error) => Err(error.unwrap_or_default()),
    };
    Collected {
        name: host.name,
        roles: host.roles,
        followed,
    }
}

fn followed(facts: HostFacts) -> Followed {
    let logs = facts.logs.into_iter().map(|log| Log {
        path: log.path,
        bytes: log.bytes,
        truncations: log.truncations,
        incomplete: log.incomplete,
        error: log.error,
        is_slow: log.is_slow,
        digest: log.facts.map(logs::Digest::from),
    });
    Followed {
        cores: facts.cores,
        core_limit: facts.core_limit,
        usage: facts.usage,
        clock: facts.clock.map(|clock| Offset {
            nanos: clock.nanos,
            bound_ns: clock.bound_ns,
            is_steady: clock.is_steady,
        }),
        logs: logs.collect(),
        database: facts.database,
        inside: facts.inside,
        units: facts.units,
        began_ns: facts.began_ns,
        lost: facts.lost,
    }
}

#[cfg(test)]
mod tests;
