//! Common properties of the responses of a run, by response head.

use crate::{Nanos, TextId};

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
    /// Result of requesting the same URL after the load, without a session and with the users'.
    /// `None` where that was not done. Since version 9.
    pub asked_again: Option<AskedAgain>,
}

/// Result of requesting a URL again after the load, by several visitors one after the other, twice
/// with some time between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedAgain {
    /// New visitors: without cookies, authorization, or other headers on who asks.
    pub visitors: u32,
    /// Users with sessions of the load; 0 where the flows have none.
    pub sessions: u32,
    /// Time between the first requests and the last.
    pub apart: Nanos,
    /// What the responses were like.
    pub sameness: Sameness,
}

/// Whether all responses to the requests of a URL were the same, or the first reason found against
/// a cache shared by all visitors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sameness {
    /// Equal bodies, and no header says otherwise.
    Same,
    /// A request of the load carried an `Authorization`.
    Authorization,
    /// A visitor or a user got no complete response with status 200.
    Refused,
    /// A response sets a cookie.
    SetsCookie,
    /// `Vary` names `Cookie`, `Authorization`, or everything.
    Varies,
    /// `Cache-Control` says `private` or `no-store`.
    Private,
    /// Responses to requests right after each other had different bodies.
    BodiesDiffer,
    /// The bodies were others some time later.
    BodiesChange,
    /// A header differs between visitors and does not change with time.
    HeadersDiffer,
    /// All bodies were the same, but not the load's: sessions may have ended with the load.
    NotAsInLoad,
}

impl Sameness {
    /// All kinds; the first is the only one in favour of a shared cache.
    pub const ALL: [Sameness; 10] = [
        Sameness::Same,
        Sameness::Authorization,
        Sameness::Refused,
        Sameness::SetsCookie,
        Sameness::Varies,
        Sameness::Private,
        Sameness::BodiesDiffer,
        Sameness::BodiesChange,
        Sameness::HeadersDiffer,
        Sameness::NotAsInLoad,
    ];

    /// Returns the name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Sameness::Same => "same",
            Sameness::Authorization => "authorization",
            Sameness::Refused => "refused",
            Sameness::SetsCookie => "sets_cookie",
            Sameness::Varies => "varies",
            Sameness::Private => "private",
            Sameness::BodiesDiffer => "bodies_differ",
            Sameness::BodiesChange => "bodies_change",
            Sameness::HeadersDiffer => "headers_differ",
            Sameness::NotAsInLoad => "not_as_in_load",
        }
    }
}
