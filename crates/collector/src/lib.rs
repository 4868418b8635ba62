//! The small program for collecting on other hosts, carried inside of a release build.
//!
//! A copy of the whole program would do, and does in other builds. The small one has a tenth of the
//! bytes, which twenty hosts need at once. `build.rs` builds it, packed, into this library.

use std::io::{self, Read};

use flate2::read::GzDecoder;

static PACKED: &[u8] = include_bytes!(env!("HAKARU_COLLECTOR"));

/// Returns the bytes of the small program; `None` in a build without one.
///
/// # Errors
/// The bytes inside are damaged.
pub fn program() -> io::Result<Option<Vec<u8>>> {
    if PACKED.is_empty() {
        return Ok(None);
    }
    let mut program = Vec::new();
    GzDecoder::new(PACKED).read_to_end(&mut program)?;
    Ok(Some(program))
}
