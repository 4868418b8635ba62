//! The keys of a file, as read by serde: unknown keys are refused.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptFile {
    #[serde(rename = "type")]
    _type: Option<String>,
    pub(super) prelude: Option<String>,
    pub(super) teardown: Option<String>,
    #[serde(default, deserialize_with = "turns")]
    pub(super) loop_count: Option<u64>,
    #[serde(rename = "required_ruby_version")]
    pub(super) ruby_min: Option<String>,
    pub(super) benchmark: Scripts,
    #[serde(default)]
    pub(super) contexts: Vec<ContextEntry>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptEntry {
    pub(super) name: Option<String>,
    pub(super) script: String,
    pub(super) prelude: Option<String>,
    pub(super) teardown: Option<String>,
    #[serde(default, deserialize_with = "turns")]
    pub(super) loop_count: Option<u64>,
    #[serde(rename = "required_ruby_version")]
    pub(super) ruby_min: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ContextEntry {
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) gems: Pairs<String>,
    #[serde(default = "yes")]
    pub(super) require: bool,
    pub(super) prelude: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RubyFile {
    #[serde(rename = "type")]
    _type: String,
    pub(super) name: String,
    pub(super) command: String,
    pub(super) working_directory: Option<String>,
    pub(super) metrics: OnePair<MetricEntry>,
    #[serde(default)]
    pub(super) environment: Pairs<FromStdout>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MetricEntry {
    pub(super) unit: Option<String>,
    pub(super) from_stdout: String,
    #[serde(default = "yes")]
    pub(super) larger_better: bool,
    #[serde(default = "slower")]
    pub(super) worse_word: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FromStdout {
    pub(super) from_stdout: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommandFile {
    #[serde(rename = "type")]
    _type: String,
    pub(super) name: String,
    pub(super) command: String,
    pub(super) working_directory: Option<String>,
    pub(super) metrics_type: MetricType,
    pub(super) stdout_to_metrics: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MetricType {
    pub(super) unit: String,
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) larger_better: bool,
    #[serde(default = "slower")]
    pub(super) worse_word: String,
}

fn yes() -> bool {
    true
}

fn slower() -> String {
    "slower".to_owned()
}

/// A whole number, whose digits may be divided by `_` as in YAML 1.1, which Ruby reads.
fn turns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(TurnsVisitor)
}

struct TurnsVisitor;

impl Visitor<'_> for TurnsVisitor {
    type Value = Option<u64>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a whole number")
    }

    fn visit_u64<E>(self, turns: u64) -> Result<Option<u64>, E> {
        Ok(Some(turns))
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Option<u64>, E> {
        let is_number = text.starts_with(|first: char| first.is_ascii_digit());
        let turns = is_number.then(|| text.replace('_', "").parse().ok());
        let unexpected = serde::de::Unexpected::Str(text);
        let turns = turns.flatten();
        turns
            .map(Some)
            .ok_or_else(|| E::invalid_value(unexpected, &self))
    }

    fn visit_unit<E>(self) -> Result<Option<u64>, E> {
        Ok(None)
    }
}

/// `benchmark`: a script, scripts by name, or a list of scripts and entries.
pub(super) struct Scripts(pub(super) Vec<ScriptEntry>);

impl<'de> Deserialize<'de> for Scripts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Scripts, D::Error> {
        deserializer.deserialize_any(ScriptsVisitor)
    }
}

struct ScriptsVisitor;

impl<'de> Visitor<'de> for ScriptsVisitor {
    type Value = Scripts;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a script, a map of names to scripts, or a list of scripts")
    }

    fn visit_str<E>(self, script: &str) -> Result<Scripts, E> {
        Ok(Scripts(vec![entry(None, script.to_owned())]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Scripts, A::Error> {
        let pairs = PairsVisitor::<String>(PhantomData).visit_map(map)?;
        let named = pairs
            .0
            .into_iter()
            .map(|(name, script)| entry(Some(name), script));
        Ok(Scripts(named.collect()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Scripts, A::Error> {
        let mut entries = Vec::new();
        while let Some(Item(entry)) = list.next_element()? {
            entries.push(entry);
        }
        Ok(Scripts(entries))
    }
}

fn entry(name: Option<String>, script: String) -> ScriptEntry {
    ScriptEntry {
        name,
        script,
        ..ScriptEntry::default()
    }
}

/// An item of a list of scripts.
struct Item(ScriptEntry);

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a script, or a map with `script`")
    }

    fn visit_str<E>(self, script: &str) -> Result<Item, E> {
        Ok(Item(entry(None, script.to_owned())))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Item, A::Error> {
        ScriptEntry::deserialize(serde::de::value::MapAccessDeserializer::new(map)).map(Item)
    }
}

/// A map in the order of the file; a name may occur twice.
pub(super) struct Pairs<T>(pub(super) Vec<(String, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Pairs<T> {
        Pairs(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs<T>, D::Error> {
        deserializer.deserialize_map(PairsVisitor(PhantomData))
    }
}

struct PairsVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PairsVisitor<T> {
    type Value = Pairs<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Pairs(pairs))
    }
}

/// A map of exactly one.
pub(super) struct OnePair<T>(pub(super) (String, T));

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OnePair<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OnePair<T>, D::Error> {
        let mut pairs = Pairs::<T>::deserialize(deserializer)?.0;
        match (pairs.pop(), pairs.is_empty()) {
            (Some(pair), true) => Ok(OnePair(pair)),
            _ => Err(serde::de::Error::custom(
                "exactly one metric can be measured",
            )),
        }
    }
}
