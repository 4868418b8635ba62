//! Ruby's `Marshal`, as far as used in stackprof's dumps: nil, booleans, integers, floats, strings,
//! symbols, arrays and hashes.

use serde_json::{Map, Number, Value};

/// Every dump begins so (version 4.8).
pub(super) const MAGIC: [u8; 2] = [4, 8];

/// Deeper nesting is no profile.
const DEPTH_MAX: usize = 32;

/// Reads a dump as the JSON value stackprof would write: keys of hashes become texts. `None` when
/// it ends early or holds another kind of object.
pub(super) fn read(bytes: &[u8]) -> Option<Value> {
    let mut reader = Reader {
        rest: bytes.strip_prefix(&MAGIC)?,
        symbols: Vec::new(),
        objects: Vec::new(),
    };
    reader.value(0)
}

struct Reader<'a> {
    rest: &'a [u8],
    symbols: Vec<String>,
    /// Objects open to links, in the order of beginning.
    objects: Vec<Value>,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.byte()? {
            b'0' => Some(Value::Null),
            b'T' => Some(Value::Bool(true)),
            b'F' => Some(Value::Bool(false)),
            b'i' => Some(Value::from(self.fixnum()?)),
            b'l' => {
                let number = self.bignum()?;
                self.keep(number)
            }
            b'f' => {
                let text = self.text()?;
                let number = text.parse::<f64>().ok().and_then(Number::from_f64);
                self.keep(number.map_or(Value::Null, Value::Number))
            }
            b'"' => {
                let text = self.text()?;
                self.keep(Value::String(text))
            }
            b'I' => self.with_variables(depth),
            b':' => {
                let text = self.text()?;
                self.symbols.push(text.clone());
                Some(Value::String(text))
            }
            b';' => {
                let index = usize::try_from(self.fixnum()?).ok()?;
                self.symbols.get(index).cloned().map(Value::String)
            }
            b'@' => {
                let index = usize::try_from(self.fixnum()?).ok()?;
                self.objects.get(index).cloned()
            }
            b'[' => self.array(depth),
            b'{' => self.hash(depth, false),
            b'}' => self.hash(depth, true),
            _ => None,
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let place = self.reserve();
        let count = self.count()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.value(depth + 1)?);
        }
        self.fill(place, Value::Array(all))
    }

    fn hash(&mut self, depth: usize, has_default: bool) -> Option<Value> {
        let place = self.reserve();
        let count = self.count()?;
        let mut all = Map::new();
        for _ in 0..count {
            let key = match self.value(depth + 1)? {
                Value::String(text) => text,
                other => other.to_string(),
            };
            let value = self.value(depth + 1)?;
            all.insert(key, value);
        }
        if has_default {
            self.value(depth + 1)?;
        }
        self.fill(place, Value::Object(all))
    }

    /// A string with an encoding.
    fn with_variables(&mut self, depth: usize) -> Option<Value> {
        let value = self.value(depth + 1)?;
        for _ in 0..self.count()? {
            self.value(depth + 1)?;
            self.value(depth + 1)?;
        }
        Some(value)
    }

    fn keep(&mut self, value: Value) -> Option<Value> {
        self.objects.push(value.clone());
        Some(value)
    }

    fn reserve(&mut self) -> usize {
        self.objects.push(Value::Null);
        self.objects.len() - 1
    }

    fn fill(&mut self, place: usize, value: Value) -> Option<Value> {
        self.objects[place] = value.clone();
        Some(value)
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        let (text, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// A length; never more than there are bytes.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.fixnum()?).ok()?;
        (count <= self.rest.len()).then_some(count)
    }

    /// Reads one byte for small numbers, otherwise the count of the following bytes, negative
    /// numbers as complement.
    fn fixnum(&mut self) -> Option<i64> {
        let first = self.byte()? as i8;
        Some(match first {
            0 => 0,
            1..=4 => self.little_endian(first as usize)? as i64,
            -4..=-1 => {
                let bytes = first.unsigned_abs() as usize;
                self.little_endian(bytes)? as i64 - (1i64 << (8 * bytes))
            }
            5.. => i64::from(first) - 5,
            _ => i64::from(first) + 5,
        })
    }

    /// Sign, length in pairs of bytes, bytes. Addresses of frames are such numbers.
    fn bignum(&mut self) -> Option<Value> {
        let negative = self.byte()? == b'-';
        let bytes = self.count()?.checked_mul(2)?;
        let magnitude = self.little_endian(bytes)?;
        Some(if negative {
            Value::from(-i64::try_from(magnitude).ok()?)
        } else {
            Value::from(magnitude)
        })
    }

    fn little_endian(&mut self, bytes: usize) -> Option<u64> {
        let (number, rest) = self.rest.split_at_checked(bytes)?;
        self.rest = rest;
        let significant = number
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        (significant <= 8).then(|| {
            number[..significant]
                .iter()
                .rev()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte))
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::read;

    #[test]
    fn what_ruby_writes_is_read() {
        // Marshal.dump({version: 1.2, mode: :wall, n: [0, 1, -1, 300, -300, 2**40, nil, true], "a"
        // => "é"})
        let dump = b"\x04\x08{\t:\x0cversionf\x081.2:\tmode:\twall:\x06n[\ri\x00i\x06i\xFAi\x02,\x01i\xFE\xD4\xFE\
            l+\x08\x00\x00\x00\x00\x00\x010TI\"\x06a\x06:\x06ETI\"\x07\xC3\xA9\x06;\tT";
        assert_eq!(
            read(dump),
            Some(json!({
                "version": 1.2, "mode": "wall",
                "n": [0, 1, -1, 300, -300, 1u64 << 40, null, true],
                "a": "é",
            }))
        );
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut dump = super::MAGIC.to_vec();
            dump.extend(bytes);
            let _ = read(&dump);
        }
    }
}
