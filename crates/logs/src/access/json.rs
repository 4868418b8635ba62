//! Reads lines of JSON objects.

use std::fmt;
use std::io::Write;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::entry::{Entry, Field};

/// Reads a line; returns whether the line is an object.
pub(super) fn read(line: &[u8], entry: &mut Entry) -> bool {
    let mut json = serde_json::Deserializer::from_slice(line);
    Object(entry).deserialize(&mut json).is_ok()
}

struct Object<'e>(&'e mut Entry);

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key_seed(Label)? {
            match field {
                Field::Ignored => {
                    map.next_value::<IgnoredAny>()?;
                }
                field => map.next_value_seed(Value(self.0, field))?,
            }
        }
        Ok(())
    }
}

/// A key, read as the field named.
struct Label;

impl<'de> DeserializeSeed<'de> for Label {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Label {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, label: &str) -> Result<Field, E> {
        Ok(Field::of_label(label.as_bytes()))
    }
}

/// A value, put into the entry. An object is one of a request, as Caddy writes it, or no figure, as
/// a list is.
struct Value<'e>(&'e mut Entry, Field);

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.set(self.1, text.as_bytes());
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.set(format_args!("{number}"));
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.set(format_args!("{number}"));
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.set(format_args!("{number:.6}"));
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.1 == Field::Request {
            return Object(self.0).visit_map(map);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }
}

impl Value<'_> {
    fn set(self, text: fmt::Arguments<'_>) {
        let mut digits = [0u8; 48];
        let mut rest = digits.as_mut_slice();
        // What does not fit is no figure of a request.
        if rest.write_fmt(text).is_ok() {
            let left = rest.len();
            let end = digits.len() - left;
            self.0.set(self.1, &digits[..end]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_lists_under_known_keys_leave_the_line_readable() {
        let caddy = br#"{"level":"info","ts":1791608136.25,"msg":"handled request","request":{"remote_ip":"10.0.0.1","client_ip":"10.0.0.1","method":"GET","host":"example.org","uri":"/a?b","headers":{"Cookie":["s=1"]}},"bytes_read":0,"duration":0.0009,"size":10,"status":200}"#;
        let mut entry = Entry::default();
        assert!(read(caddy, &mut entry));
        assert_eq!(
            (entry.method.as_slice(), entry.uri.as_slice()),
            (&b"GET"[..], &b"/a?b"[..])
        );
        assert_eq!(
            (entry.status, entry.bytes, entry.micros),
            (200, Some(10), Some(900))
        );
        assert_eq!(entry.moment, b"1791608136.250000");
        assert_eq!(entry.client, b"10.0.0.1");
        let other = br#"{"uri":"/a","time":{"s":[1]},"status":[{"x":1}],"host":"10.0.0.2"}"#;
        entry.clear();
        assert!(read(other, &mut entry));
        assert_eq!((entry.uri.as_slice(), entry.status), (&b"/a"[..], 0));
        assert_eq!(entry.client, b"10.0.0.2");
    }
}
