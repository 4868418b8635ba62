//! SQL text in, digest out: the statement without literals.
//!
//! The same statement with other values has the same digest, so executions can be counted, and no
//! value of a user's row gets into a recording. One pass over the bytes: `lex` cuts tokens,
//! `normal` decides what is written of each and how, a sink either hashes or stores the text. The
//! hashing path neither allocates nor panics: it runs inside the measured app.
//!
//! What a digest looks like, and where dialects disagree what was chosen:
//! - Numbers, strings, hexadecimal, placeholders (`?`, `$1`, `:name`) become `?`; a sign before
//!   them is dropped.
//! - `NULL`, `TRUE`, `FALSE`, `DEFAULT` become `?` as an item of a list or after an operator.
//! - Runs of literals in the list after `IN` or `ARRAY` or in a row after `VALUES` become one `?`;
//!   rows after the first are dropped: `IN (?)`, `VALUES (?)`, `VALUES (?, now())`.
//! - Comments are dropped, white space and spacing around operators is uniform, a last `;` is
//!   dropped.
//! - The case of words stays as typed: an app writes one statement in one way, and names may depend
//!   on it.
//! - A backslash escapes the next character of any string (MySQL's rule; what MySQL drivers send is
//!   full of it, and a last character `\` in a string elsewhere is rare).
//! - A double-quoted text is a name (PostgreSQL, SQLite) unless its place or content says it is a
//!   string (MySQL): after an operator or in a list and not followed by a dot, or not made like a
//!   name.
//! - `--` and `#` begin a comment (but `#>` is PostgreSQL's operator); block comments do not nest.
//! - Invalid UTF-8 becomes U+FFFD; what is unterminated is a literal up to the end.
//! - Texts end before the token that would pass [`DIGEST_BYTES_MAX`].

mod lex;
mod normal;
#[cfg(test)]
mod tests;
mod words;

use std::hash::Hasher;

use fnv::FnvHasher;

/// Most bytes of a digest. Enough to tell generated statements apart; a bound so that one
/// statement with ten thousand columns can't fill a ring.
pub const DIGEST_BYTES_MAX: usize = 2_000;

/// The name of the digest of `sql`: 64-bit FNV-1a over the bytes of [`digest`]'s text, zero
/// avoided.
///
/// Equals `recording::TextId::of(digest(sql).as_bytes()).0`. Takes time in proportion to the length
/// of `sql`; does not allocate.
pub fn digest_id(sql: &[u8]) -> u64 {
    let mut sink = FnvHasher::default();
    normal::run(sql, &mut sink);
    sink.finish().max(1)
}

/// Returns the statement without literals; see the crate's documentation for the rules.
pub fn digest(sql: &[u8]) -> String {
    let mut sink = Text(Vec::new());
    normal::run(sql, &mut sink);
    String::from_utf8_lossy(&sink.0).into_owned()
}

/// Takes the text of a digest piece by piece; every piece is valid UTF-8.
trait Sink {
    fn put(&mut self, piece: &[u8]);
}

impl Sink for FnvHasher {
    #[inline]
    fn put(&mut self, piece: &[u8]) {
        self.write(piece);
    }
}

struct Text(Vec<u8>);

impl Sink for Text {
    fn put(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
    }
}
