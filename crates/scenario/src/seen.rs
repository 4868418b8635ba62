//! A response with cached results of queries: decompressed, decoded and parsed at most once.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::io::Read;

use ::xpath::Document;
use brotli_decompressor::Decompressor;
use encoding_rs::Encoding;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use ruzstd::decoding::StreamingDecoder;

use crate::answer::Answer;
use crate::follow::Trail;

/// Largest body after decompression; a few bytes can stand for gigabytes.
const DECODED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes read at a time by brotli's decoder.
const BROTLI_BUFFER_BYTES: usize = 4096;

/// Media type of what is read as HTML.
const HTML: &str = "text/html";

/// A response under evaluation.
pub(crate) struct Seen<'a> {
    pub(crate) answer: &'a Answer<'a>,
    pub(crate) trail: &'a Trail,
    bytes: OnceCell<Result<Cow<'a, [u8]>, String>>,
    /// The text of a body in another charset than UTF-8; `None` for UTF-8.
    text: OnceCell<Result<Option<String>, String>>,
    json: OnceCell<Result<serde_json::Value, String>>,
    markup: OnceCell<Result<Document, String>>,
}

impl<'a> Seen<'a> {
    pub(crate) fn new(answer: &'a Answer<'a>, trail: &'a Trail) -> Self {
        Seen {
            answer,
            trail,
            bytes: OnceCell::new(),
            text: OnceCell::new(),
            json: OnceCell::new(),
            markup: OnceCell::new(),
        }
    }

    /// The body, decompressed.
    pub(crate) fn bytes(&self) -> Result<&[u8], String> {
        let bytes = self.bytes.get_or_init(|| decompressed(self.answer));
        bytes.as_deref().map_err(Clone::clone)
    }

    /// Returns the body as text, decoded by the charset in `Content-Type`.
    pub(crate) fn text(&self) -> Result<&str, String> {
        match self.decoded()? {
            Some(text) => Ok(text),
            None => {
                std::str::from_utf8(self.bytes()?).map_err(|_| "the body is not UTF-8".to_owned())
            }
        }
    }

    /// Returns the text of a body in another charset than UTF-8.
    fn decoded(&self) -> Result<Option<&str>, String> {
        let bytes = self.bytes()?;
        let text = self.text.get_or_init(|| {
            let label = self.answer.values("content-type").find_map(charset);
            let label = label.filter(|label| !label.eq_ignore_ascii_case("utf-8"));
            label.map(|label| decoded(bytes, &label)).transpose()
        });
        text.as_ref().map(Option::as_deref).map_err(Clone::clone)
    }

    pub(crate) fn json(&self) -> Result<&serde_json::Value, String> {
        let parsed = self.json.get_or_init(|| {
            let bytes = match self.decoded()? {
                Some(text) => text.as_bytes(),
                None => self.bytes()?,
            };
            serde_json::from_slice(bytes).map_err(|error| {
                let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]);
                format!("the body is not JSON: {error}; it begins with {shown:?}")
            })
        });
        parsed.as_ref().map_err(Clone::clone)
    }

    /// The body as HTML where `Content-Type` says so, else as XML.
    pub(crate) fn markup(&self) -> Result<&Document, String> {
        let parsed = self.markup.get_or_init(|| {
            let mut types = self.answer.values("content-type");
            let is_html = types.any(|value| {
                let start = value.trim_ascii_start().get(..HTML.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(HTML.as_bytes()))
            });
            let (name, document) = match is_html {
                true => ("HTML", Document::html(self.text()?)),
                false => ("XML", Document::xml(self.text()?)),
            };
            document.map_err(|why| format!("the body is not {name}: {why}"))
        });
        parsed.as_ref().map_err(Clone::clone)
    }
}

/// Returns the text of `bytes` in the encoding `label` (Encoding Standard).
pub(crate) fn decoded(bytes: &[u8], label: &str) -> Result<String, String> {
    let Some(encoding) = Encoding::for_label(label.as_bytes()) else {
        return Err(format!("the charset `{label}` is not known"));
    };
    // What is meant by marks at the start is said by the label.
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    match text {
        None => Err(format!("the bytes are not text in `{label}`")),
        Some(text) => Ok(text.into_owned()),
    }
}

/// Returns the charset in a `Content-Type`.
fn charset(content_type: &[u8]) -> Option<String> {
    let content_type = std::str::from_utf8(content_type).ok()?;
    let mut parameters = content_type.split(';').skip(1);
    parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let named = name.trim().eq_ignore_ascii_case("charset");
        named.then(|| value.trim().trim_matches('"').to_owned())
    })
}

/// The body without the codings of `Content-Encoding`, the last of which was put on last.
fn decompressed<'a>(answer: &Answer<'a>) -> Result<Cow<'a, [u8]>, String> {
    let mut body = Cow::Borrowed(answer.body);
    let named: Vec<&[u8]> = answer.values("content-encoding").collect();
    let codings = named.iter().flat_map(|value| value.split(|b| *b == b','));
    let codings: Vec<&[u8]> = codings.map(<[u8]>::trim_ascii).collect();
    for coding in codings.into_iter().rev() {
        let name = String::from_utf8_lossy(coding).to_ascii_lowercase();
        body = match name.as_str() {
            "" | "identity" => body,
            "gzip" | "x-gzip" => inflated(MultiGzDecoder::new(&*body), &name)?,
            "deflate" => inflated(ZlibDecoder::new(&*body), &name)?,
            "br" => inflated(Decompressor::new(&*body, BROTLI_BUFFER_BYTES), &name)?,
            "zstd" => unpacked_zstd(&body, &name)?,
            _ => {
                return Err(format!(
                    "the body is compressed ({name}); ask for gzip, deflate, br or zstd, or leave \
                     Accept-Encoding out of the request"
                ));
            }
        };
    }
    Ok(body)
}

/// Returns all frames of a body, one behind the other.
fn unpacked_zstd<'a>(body: &[u8], name: &str) -> Result<Cow<'a, [u8]>, String> {
    let mut bytes = Vec::new();
    let mut rest = body;
    while !rest.is_empty() {
        let decoder = StreamingDecoder::new(&mut rest);
        let decoder = decoder.map_err(|error| format!("the body is not {name}: {error}"))?;
        bytes.extend_from_slice(&inflated(decoder, name)?);
        if bytes.len() as u64 > DECODED_BYTES_MAX {
            return Err(too_large());
        }
    }
    Ok(Cow::Owned(bytes))
}

fn too_large() -> String {
    "the decompressed body is larger than the limit of 64 MiB".to_owned()
}

fn inflated<'a>(decoder: impl Read, name: &str) -> Result<Cow<'a, [u8]>, String> {
    let mut bytes = Vec::new();
    let read = decoder.take(DECODED_BYTES_MAX + 1).read_to_end(&mut bytes);
    match read {
        Ok(_) if bytes.len() as u64 > DECODED_BYTES_MAX => Err(too_large()),
        Ok(_) => Ok(Cow::Owned(bytes)),
        Err(error) => Err(format!("the body is not {name}: {error}")),
    }
}
