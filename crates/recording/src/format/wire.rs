//! The format's elements: variable-length integers, texts, lists, and columns.

use super::FormatError;
use crate::EndedEarly;

#[derive(Default)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
}

pub(super) struct Reader<'a> {
    /// Version of the piece being read.
    pub(super) version: u16,
    rest: &'a [u8],
}

/// A value with a form as a row.
pub(super) trait Wire: Sized {
    fn put(&self, writer: &mut Writer);
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError>;
}

impl Writer {
    /// Writes seven bits a byte, lowest first; the high bit is set when more follow.
    pub(super) fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    /// Small magnitudes of either sign become small numbers.
    pub(super) fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// Writes one number a row, unchanged.
    pub(super) fn column(&mut self, values: impl Iterator<Item = u64>) {
        values.for_each(|value| self.number(value));
    }

    /// Writes one number a row, as the distance from the row before, for slowly growing values.
    pub(super) fn deltas(&mut self, values: impl Iterator<Item = u64>) {
        let mut before = 0_u64;
        for value in values {
            self.signed(value.wrapping_sub(before) as i64);
            before = value;
        }
    }

    /// Writes one number a row, as the distance from a base of the row.
    pub(super) fn offsets(&mut self, values: impl Iterator<Item = (u64, u64)>) {
        values.for_each(|(base, value)| self.signed(value.wrapping_sub(base) as i64));
    }
}

impl<'a> Reader<'a> {
    pub(super) fn new(version: u16, bytes: &'a [u8]) -> Self {
        Reader {
            version,
            rest: bytes,
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, FormatError> {
        let (first, rest) = self
            .rest
            .split_first()
            .ok_or(FormatError::Damaged("cut off"))?;
        self.rest = rest;
        Ok(*first)
    }

    pub(super) fn number(&mut self) -> Result<u64, FormatError> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(FormatError::Damaged("number too long"))
    }

    pub(super) fn signed(&mut self) -> Result<i64, FormatError> {
        let folded = self.number()?;
        Ok((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// Reads a count of items of at least one byte each: damage cannot ask for more memory than the
    /// bytes of the piece.
    pub(super) fn count(&mut self) -> Result<usize, FormatError> {
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.rest.len() => Ok(count),
            _ => Err(FormatError::Damaged("count larger than the piece")),
        }
    }

    pub(super) fn text(&mut self) -> Result<String, FormatError> {
        let length = self.count()?;
        let (text, rest) = self.rest.split_at(length);
        self.rest = rest;
        String::from_utf8(text.to_vec()).map_err(|_| FormatError::Damaged("text is not UTF-8"))
    }

    pub(super) fn column(&mut self, count: usize) -> Result<Vec<u64>, FormatError> {
        (0..count).map(|_| self.number()).collect()
    }

    /// A column whose values must fit a smaller type.
    pub(super) fn column_of<T: TryFrom<u64>>(
        &mut self,
        count: usize,
    ) -> Result<Vec<T>, FormatError> {
        (0..count).map(|_| self.narrow()).collect()
    }

    pub(super) fn narrow<T: TryFrom<u64>>(&mut self) -> Result<T, FormatError> {
        T::try_from(self.number()?).map_err(|_| FormatError::Damaged("number out of range"))
    }

    pub(super) fn deltas(&mut self, count: usize) -> Result<Vec<u64>, FormatError> {
        let mut before = 0_u64;
        (0..count)
            .map(|_| {
                before = before.wrapping_add(self.signed()? as u64);
                Ok(before)
            })
            .collect()
    }

    pub(super) fn offsets(&mut self, bases: &[u64]) -> Result<Vec<u64>, FormatError> {
        bases
            .iter()
            .map(|base| Ok(base.wrapping_add(self.signed()? as u64)))
            .collect()
    }

    pub(super) fn expect_end(&self) -> Result<(), FormatError> {
        match self.rest {
            [] => Ok(()),
            _ => Err(FormatError::Damaged("bytes after the end")),
        }
    }
}

/// Writes and reads integers of the named types as numbers.
macro_rules! wire_numbers {
    ($($type:ty),*) => {$(
        impl Wire for $type {
            fn put(&self, writer: &mut Writer) {
                writer.number(u64::from(*self));
            }
            fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
                reader.narrow()
            }
        }
    )*};
}

wire_numbers!(u16, u32, u64);

impl Wire for i64 {
    fn put(&self, writer: &mut Writer) {
        writer.signed(*self);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        reader.signed()
    }
}

impl Wire for f64 {
    fn put(&self, writer: &mut Writer) {
        writer
            .bytes
            .extend_from_slice(&self.to_bits().to_le_bytes());
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let mut bytes = [0; 8];
        for byte in &mut bytes {
            *byte = reader.byte()?;
        }
        Ok(f64::from_bits(u64::from_le_bytes(bytes)))
    }
}

impl Wire for bool {
    fn put(&self, writer: &mut Writer) {
        writer.number(u64::from(*self));
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        match reader.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(FormatError::Damaged("neither yes nor no")),
        }
    }
}

impl Wire for String {
    fn put(&self, writer: &mut Writer) {
        writer.text(self);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        reader.text()
    }
}

impl Wire for EndedEarly {
    fn put(&self, writer: &mut Writer) {
        self.to_string().put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        String::get(reader).map(EndedEarly::of_text)
    }
}

impl<T: Wire> Wire for Option<T> {
    fn put(&self, writer: &mut Writer) {
        self.is_some().put(writer);
        if let Some(value) = self {
            value.put(writer);
        }
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        Ok(match bool::get(reader)? {
            true => Some(T::get(reader)?),
            false => None,
        })
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn put(&self, writer: &mut Writer) {
        writer.number(self.len() as u64);
        self.iter().for_each(|item| item.put(writer));
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let count = reader.count()?;
        // Grows as items are read: an item may be larger in memory than its one byte here.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(T::get(reader)?);
        }
        Ok(items)
    }
}

impl<A: Wire, B: Wire> Wire for (A, B) {
    fn put(&self, writer: &mut Writer) {
        self.0.put(writer);
        self.1.put(writer);
    }
    fn get(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        Ok((A::get(reader)?, B::get(reader)?))
    }
}
