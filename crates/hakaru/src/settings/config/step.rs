//! `[[flow.step]]`: what is said over a WebSocket.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::duration;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Step {
    pub(crate) name: Option<String>,
    #[serde(deserialize_with = "text_or_table")]
    pub(crate) send: Option<Send>,
    #[serde(deserialize_with = "text_or_table")]
    pub(crate) expect: Option<Expect>,
    pub(crate) captures: BTreeMap<String, String>,
    #[serde(deserialize_with = "duration")]
    pub(crate) within: Option<Duration>,
    /// Think time as typed; [`scenario::ThinkTime::parse`] reads the text.
    pub(crate) think: Option<String>,
    pub(crate) close: bool,
}

/// Text, or bytes as hexadecimal digits.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Send {
    pub(crate) text: Option<String>,
    pub(crate) hex: Option<String>,
}

/// Expectations, of which all must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Expect {
    pub(crate) any: bool,
    pub(crate) equals: Option<String>,
    pub(crate) contains: Option<String>,
    pub(crate) matches: Option<String>,
    pub(crate) asserts: Vec<String>,
}

impl From<&str> for Send {
    fn from(text: &str) -> Send {
        Send {
            text: Some(text.to_owned()),
            hex: None,
        }
    }
}

impl From<&str> for Expect {
    fn from(text: &str) -> Expect {
        Expect {
            equals: Some(text.to_owned()),
            ..Expect::default()
        }
    }
}

/// A table, or a text in place of a table.
fn text_or_table<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + for<'a> From<&'a str>,
{
    struct TextOrTable<T>(PhantomData<T>);

    impl<'de, T> Visitor<'de> for TextOrTable<T>
    where
        T: Deserialize<'de> + for<'a> From<&'a str>,
    {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a text or a table")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            Ok(T::from(text))
        }

        fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<T, M::Error> {
            T::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer
        .deserialize_any(TextOrTable(PhantomData))
        .map(Some)
}
