//! The Huffman code of HPACK (RFC 7541, appendix B). It is canonical: the lengths of its codes say
//! all.

use std::sync::LazyLock;

/// Symbol of the end, which must never come.
const END: u16 = 256;
/// Bits of the longest code.
const LONGEST: usize = 30;

/// Bits of each octet's code; [`END`] has [`LONGEST`].
const LENGTHS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28,
    28, 28, 28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5,
    5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6,
    6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22,
    23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22,
    21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20,
    22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19,
    21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22,
    22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];

/// The codes of one length, moved to the left end of 32 bits.
#[derive(Clone, Copy, Debug, Default)]
struct Length {
    bits: u32,
    first: u64,
    /// Behind the last.
    end: u64,
    /// The place of the first one's symbol.
    place: usize,
}

#[derive(Debug)]
struct Code {
    lengths: Vec<Length>,
    /// Symbols in the order of codes.
    symbols: Vec<u16>,
}

static CODE: LazyLock<Code> = LazyLock::new(|| {
    let mut symbols: Vec<u16> = (0..=END).collect();
    let bits_of = |symbol: u16| match symbol {
        END => LONGEST,
        octet => usize::from(LENGTHS[usize::from(octet)]),
    };
    symbols.sort_by_key(|symbol| (bits_of(*symbol), *symbol));
    let mut lengths = Vec::new();
    let (mut next, mut place) = (0_u64, 0);
    for bits in 1..=LONGEST {
        let count = symbols.iter().filter(|symbol| bits_of(**symbol) == bits);
        let count = count.count();
        let end = next + ((count as u64) << (32 - bits));
        if count > 0 {
            lengths.push(Length {
                bits: bits as u32,
                first: next,
                end,
                place,
            });
        }
        place += count;
        next = end;
    }
    Code { lengths, symbols }
});

/// Adds what `bytes` mean to `text`. `None`: they are no such code, or not padded with ones to an
/// octet.
pub(super) fn decode(bytes: &[u8], text: &mut Vec<u8>) -> Option<()> {
    let code = &*CODE;
    let (mut held, mut bits) = (0_u64, 0_u32);
    let mut rest = bytes.iter();
    loop {
        while bits <= 48
            && let Some(byte) = rest.next()
        {
            held = (held << 8) | u64::from(*byte);
            bits += 8;
        }
        if bits == 0 {
            return Some(());
        }
        // The next 32 bits, with ones behind the last.
        let window = match bits {
            32.. => (held >> (bits - 32)) & 0xffff_ffff,
            _ => ((held << (32 - bits)) | ((1 << (32 - bits)) - 1)) & 0xffff_ffff,
        };
        let length = code.lengths.iter().find(|length| window < length.end)?;
        if length.bits > bits {
            return (bits < 8 && window == 0xffff_ffff).then_some(());
        }
        let place = length.place + ((window - length.first) >> (32 - length.bits)) as usize;
        text.push(u8::try_from(code.symbols[place]).ok()?);
        bits -= length.bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(hex: &str) -> Option<String> {
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(digits).collect();
        let mut text = Vec::new();
        decode(&bytes, &mut text)?;
        String::from_utf8(text).ok()
    }

    #[test]
    fn the_code_is_complete() {
        let last = CODE.lengths.last().expect("lengths");
        assert_eq!((last.bits, last.end), (30, 1 << 32));
        assert_eq!(CODE.symbols.last(), Some(&END));
    }

    /// RFC 7541, C.4 and C.6.
    #[test]
    fn known_codes_are_read() {
        for (hex, text) in [
            ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"),
            ("a8eb10649cbf", "no-cache"),
            ("25a849e95ba97d7f", "custom-key"),
            ("25a849e95bb8e8b4bf", "custom-value"),
            ("6402", "302"),
            ("aec3771a4b", "private"),
            (
                "d07abe941054d444a8200595040b8166e082a62d1bff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
            (
                "9d29ad171863c78f0b97c8e9ae82ae43d3",
                "https://www.example.com",
            ),
            ("640eff", "307"),
            ("9bd9ab", "gzip"),
            ("", ""),
        ] {
            assert_eq!(decoded(hex).as_deref(), Some(text), "{hex}");
        }
    }

    #[test]
    fn wrong_padding_and_the_end_are_no_code() {
        // Zeros behind it, a whole octet of ones, and the symbol that ends.
        for hex in ["a8eb10649cb0", "a8eb10649cbfff", "ffffffff", "ffffffffff"] {
            assert_eq!(decoded(hex), None, "{hex}");
        }
    }
}
