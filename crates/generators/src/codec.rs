//! Histograms as text: HdrHistogram's own encoding (V2 with deflate), in base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};

/// Returns the text. Every count of every bucket is in it.
pub(crate) fn text_of(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    let written = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    // Memory takes all, and counts lie far below the encoding's bound of 2^63.
    written.expect("a histogram fits into memory");
    STANDARD.encode(bytes)
}

/// Adds a histogram's text to an empty one of the same digits. The error says why it cannot be.
pub(crate) fn add_text(own: &mut Histogram<u64>, text: &str) -> Result<(), String> {
    let bytes = STANDARD.decode(text).map_err(|error| error.to_string())?;
    let read: Histogram<u64> = Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .map_err(|error| format!("{error:?}"))?;
    if read.sigfig() != own.sigfig() || read.low() != own.low() {
        return Err(format!(
            "a histogram of {} digits where {} are kept",
            read.sigfig(),
            own.sigfig()
        ));
    }
    own.add(read).map_err(|error| error.to_string())
}
