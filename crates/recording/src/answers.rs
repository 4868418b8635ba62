//! Common properties of the responses of a run, by response head.

use crate::TextId;

/// Responses to one request line with one status, from a sample: the first ones of each line, then
/// one in sixteen, warm-up included. Sizes of bodies are in [`crate::Exchange`], for every request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFacts {
    /// Method and path without the query.
    pub line: TextId,
    /// HTTP status.
    pub status: u16,
    /// Number of responses examined. All counts below are of these.
    pub seen: u64,
    /// `Content-Type` of the first response; `NONE` without one.
    pub content_type: TextId,
    /// `Content-Encoding` of the first.
    pub content_encoding: TextId,
    /// `Cache-Control` of the first response with one.
    pub cache_control: TextId,
    /// Responses with a `Cache-Control` or an `Expires`.
    pub with_cache_control: u64,
    /// Responses with an `ETag`.
    pub with_etag: u64,
    /// Responses with a `Last-Modified`.
    pub with_last_modified: u64,
    /// Responses with a `Set-Cookie`.
    pub with_set_cookie: u64,
    /// Responses after which the connection was closed without a request to do so.
    pub closed: u64,
    /// Requests with an offer to take a compressed body.
    pub offered_compression: u64,
    /// Requests with a `Cookie` or an `Authorization`.
    pub with_credentials: u64,
    /// Responses to a GET of a URL (query included) already requested by another user: on another
    /// connection, and with other cookies or authorization unless neither had any.
    pub repeated: u64,
    /// Repeated responses with an equal body: by length and first 256 KiB.
    pub repeated_equal: u64,
}
