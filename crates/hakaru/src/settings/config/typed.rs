//! Values of `hakaru.toml` with more than one notation, and messages on invalid ones.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::cli::parse_duration;

/// Least likeness of a misspelt key and a known one; equal words have 1.
const LIKENESS_MIN: f64 = 0.8;

/// The message with the known key nearest to a misspelt one, where there is one.
pub(super) fn explain(message: &str) -> String {
    match nearest_key(message) {
        Some(known) => format!("{message}; did you mean `{known}`?"),
        None => message.to_owned(),
    }
}

/// Parses serde's "unknown field `comand`, expected one of `command`, `url`".
fn nearest_key(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("unknown field `")?;
    let (typed, rest) = rest.split_once('`')?;
    let known = rest.split('`').skip(1).step_by(2);
    scenario::nearest(typed, known, LIKENESS_MIN)
}

/// A duration, written as a text with a unit.
pub(super) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    struct Length;

    impl Visitor<'_> for Length {
        type Value = Duration;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a length of time such as \"20s\"")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Duration, E> {
            parse_duration(text).map_err(E::custom)
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Duration, E> {
            Err(E::custom(format!("write \"{number}s\", with the unit")))
        }

        fn visit_f64<E: de::Error>(self, number: f64) -> Result<Duration, E> {
            Err(E::custom(format!("write \"{number}s\", with the unit")))
        }
    }

    deserializer.deserialize_any(Length)
}

/// A table of texts; numbers, `true` and `false` are taken as written.
pub(super) fn texts<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text, a number, true or false")]
    enum Value {
        Text(String),
        Whole(i64),
        Number(f64),
        Truth(bool),
    }
    let values = BTreeMap::<String, Value>::deserialize(deserializer)?;
    let text = |(name, value)| {
        let text = match value {
            Value::Text(text) => text,
            Value::Whole(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
        };
        (name, text)
    };
    Ok(values.into_iter().map(text).collect())
}

/// Tables in the notation `[[name]]`.
pub(super) fn tables<'de, D, T>(deserializer: D, name: &'static str) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Tables<T>(&'static str, PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "tables that begin with [[{}]]", self.0)
        }

        fn visit_seq<A: SeqAccess<'de>>(self, sequence: A) -> Result<Vec<T>, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(sequence))
        }

        fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Vec<T>, A::Error> {
            let name = self.0;
            Err(de::Error::custom(format!(
                "write [[{name}]], with two brackets on each side: there may be several"
            )))
        }
    }

    deserializer.deserialize_any(Tables(name, PhantomData))
}

#[cfg(test)]
mod tests {
    use super::nearest_key;

    #[test]
    fn a_misspelt_key_is_recognized_and_a_strange_one_is_not() {
        let check = |message: &str, expected| assert_eq!(nearest_key(message), expected);
        check(
            "unknown field `comand`, expected one of `url`, `command`, `env`",
            Some("command"),
        );
        check(
            "unknown field `Target`, expected `target` or `load`",
            Some("target"),
        );
        check("unknown field `zebra`, expected one of `url`, `env`", None);
        check("invalid type: integer `3`", None);
    }
}
