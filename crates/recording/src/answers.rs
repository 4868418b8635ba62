//! What the answers of a run had in common, told from their heads.

use crate::TextId;

/// Answers to one request line with one status, from a sample: the first ones of each line, then
/// one in sixteen, warm-up included. Sizes of bodies are in [`crate::Exchange`], for every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// Method and path without the query.
    pub line: TextId,
    /// HTTP status.
    pub status: u16,
    /// Answers looked at; all counts below are of these.
    pub seen: u64,
    /// `Content-Type` of the first; `NONE` when it had none.
    pub content_type: TextId,
    /// `Content-Encoding` of the first.
    pub content_encoding: TextId,
    /// `Cache-Control` of the first that had one.
    pub cache_control: TextId,
    /// Answers with a `Cache-Control` or an `Expires`.
    pub with_cache_control: u64,
    /// Answers with an `ETag`.
    pub with_etag: u64,
    /// Answers with a `Last-Modified`.
    pub with_last_modified: u64,
    /// Answers with a `Set-Cookie`.
    pub with_set_cookie: u64,
    /// Answers after which the connection could not be used again though the request did not ask
    /// for that.
    pub closed: u64,
    /// Requests that offered to take a compressed body.
    pub offered_compression: u64,
    /// Requests with a `Cookie` or an `Authorization`.
    pub with_credentials: u64,
    /// Answers to a GET of a URL (query included) that another user had asked for before: on
    /// another connection, and with other cookies or authorization unless neither had any.
    pub repeated: u64,
    /// Of these, with the same body as that one's: its length and first 256 KiB.
    pub repeated_equal: u64,
}
