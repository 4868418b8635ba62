//! A response to be judged, as handed over by the load generator.

use std::ops::Range;

/// What stands for HTTP/2 in [`Answer::minor_version`].
pub const HTTP2: u8 = u8::MAX;

/// One HTTP answer. Nothing in it is copied: all are views into the connection's buffers.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Status code.
    pub status: u16,
    /// The minor number of HTTP 1, or [`HTTP2`].
    pub minor_version: u8,
    /// What `headers` point into.
    pub head: &'a [u8],
    /// Headers, in order.
    pub headers: &'a [HeaderSpan],
    /// Body, chunks joined; only the beginning where [`crate::Session::needs_body`] returned false.
    pub body: &'a [u8],
    /// From sent to answered, nanoseconds.
    pub duration_ns: u64,
}

/// Where a header lies in [`Answer::head`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderSpan {
    /// The name.
    pub name: Range<u32>,
    /// The value, without surrounding spaces.
    pub value: Range<u32>,
}

/// The version of HTTP behind a minor number: `1.0`, `1.1` or `2`.
pub(crate) fn version(minor: u8) -> String {
    match minor {
        HTTP2 => "2".to_owned(),
        minor => format!("1.{minor}"),
    }
}

impl<'a> Answer<'a> {
    /// The version of HTTP: `1.0`, `1.1` or `2`.
    pub fn version(&self) -> String {
        version(self.minor_version)
    }

    /// All headers as names and values.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        let head = self.head;
        let slice = move |range: &Range<u32>| {
            head.get(range.start as usize..range.end as usize)
                .unwrap_or_default()
        };
        self.headers
            .iter()
            .map(move |span| (slice(&span.name), slice(&span.value)))
    }

    /// Returns the values of the header `name`, in any case.
    pub fn values<'n>(&self, name: &'n str) -> impl Iterator<Item = &'a [u8]> + use<'a, 'n> {
        self.fields()
            .filter(move |(field, _)| field.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }
}
