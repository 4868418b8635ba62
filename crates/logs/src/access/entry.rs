//! One request, by a line of a log.

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// Method, URI and protocol, such as `GET / HTTP/1.1`.
    Request,
    Method,
    Uri,
    Status,
    Bytes,
    /// Duration of the request, in the given unit.
    Time(Unit),
    /// Duration of the request, in seconds; in milliseconds beside a [`Field::Controller`].
    Duration,
    /// Controller of Rails: the line is lograge's.
    Controller,
    /// Duration in the app, in seconds: one value for each server asked.
    Upstream,
    /// Address of the server asked; the last one where several were.
    UpstreamAddress,
    /// Duration by the app's own account, in seconds, such as of the header `X-Runtime`.
    Own,
    /// When the line was written, at the request's end.
    Ended,
    /// When the request came.
    Began,
    /// Client of the request.
    Client,
    /// Client of the request in LTSV; the server's name beside another client.
    Host,
    /// The request's cookies.
    Cookie,
    /// The kind of the request's body.
    ContentType,
    /// The request's body.
    Body,
    Ignored,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Millis,
    Micros,
}

/// What a line says. Buffers are used again for the next.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) method: Vec<u8>,
    /// Path and query.
    pub(super) uri: Vec<u8>,
    /// 0 where the line has none.
    pub(super) status: u16,
    pub(super) bytes: Option<u64>,
    pub(super) micros: Option<u32>,
    /// A [`Field::Duration`], read as milliseconds.
    duration_of_millis: Option<u32>,
    has_controller: bool,
    pub(super) upstream_micros: Option<u32>,
    /// Address of the answering server; empty where the line has none.
    pub(super) upstream_address: Vec<u8>,
    /// Time by the app's own account.
    pub(super) own_micros: Option<u32>,
    /// Time as written in the line; empty where the line has none.
    pub(super) moment: Vec<u8>,
    /// Whether `moment` is the arrival of the request and not the end.
    pub(super) moment_is_begin: bool,
    /// An address, as a rule; empty where the line has none.
    pub(super) client: Vec<u8>,
    /// Headers `Cookie` and `Content-Type`, and body, of the request, as written in the line; empty
    /// where the line has none.
    pub(super) cookie: Vec<u8>,
    pub(super) content_type: Vec<u8>,
    pub(super) body: Vec<u8>,
}

impl Field {
    /// Returns the field of a label in LTSV or JSON: labels of alp, nginx's variables, and other
    /// usual names.
    pub(super) fn of_label(label: &[u8]) -> Field {
        match label {
            b"req" | b"request" => Field::Request,
            b"method" | b"request_method" => Field::Method,
            b"uri" | b"request_uri" | b"path" | b"url" => Field::Uri,
            b"status" => Field::Status,
            b"size" | b"body_bytes" | b"body_bytes_sent" | b"bytes" | b"bytes_sent" => Field::Bytes,
            b"reqtime" | b"request_time" | b"response_time" => Field::Time(Unit::Seconds),
            b"duration" => Field::Duration,
            b"controller" => Field::Controller,
            b"reqtime_microsec" | b"duration_us" => Field::Time(Unit::Micros),
            b"duration_ms" => Field::Time(Unit::Millis),
            b"apptime" | b"upstream_response_time" | b"upstream_time" => Field::Upstream,
            b"upstream_addr" | b"upstream" | b"appaddr" => Field::UpstreamAddress,
            b"upstream_http_x_runtime" | b"x_runtime" | b"runtime" => Field::Own,
            b"time" | b"time_local" | b"time_iso8601" | b"msec" | b"timestamp" | b"@timestamp"
            | b"ts" => Field::Ended,
            b"remote_addr" | b"client" | b"client_ip" | b"remote_ip" => Field::Client,
            b"host" => Field::Host,
            b"cookie" | b"http_cookie" => Field::Cookie,
            b"content_type" | b"http_content_type" => Field::ContentType,
            b"body" | b"request_body" => Field::Body,
            _ => Field::Ignored,
        }
    }
}

impl Entry {
    pub(super) fn clear(&mut self) {
        self.method.clear();
        self.uri.clear();
        self.status = 0;
        self.bytes = None;
        self.micros = None;
        self.duration_of_millis = None;
        self.has_controller = false;
        self.upstream_micros = None;
        self.upstream_address.clear();
        self.own_micros = None;
        self.moment.clear();
        self.moment_is_begin = false;
        self.client.clear();
        self.cookie.clear();
        self.content_type.clear();
        self.body.clear();
    }

    /// Sets a field. What is no value of its kind leaves it as it is, as `-` does.
    pub(super) fn set(&mut self, field: Field, value: &[u8]) {
        match field {
            Field::Request => self.set_request(value),
            Field::Method => replace(&mut self.method, value),
            Field::Uri => replace(&mut self.uri, value),
            Field::Status => self.status = whole(value).unwrap_or(0) as u16,
            Field::Bytes if value == b"-" => self.bytes = Some(0),
            Field::Bytes => self.bytes = whole(value),
            Field::Time(unit) => self.micros = micros(value, unit),
            Field::Duration => {
                self.duration_of_millis = micros(value, Unit::Millis);
                self.micros = match self.has_controller {
                    true => self.duration_of_millis,
                    false => micros(value, Unit::Seconds),
                };
            }
            Field::Controller => {
                self.has_controller = true;
                self.micros = self.duration_of_millis.or(self.micros);
            }
            Field::Upstream => self.upstream_micros = upstream(value),
            Field::UpstreamAddress => replace(&mut self.upstream_address, last_address(value)),
            Field::Own => self.own_micros = micros(value, Unit::Seconds),
            Field::Ended | Field::Began => {
                replace(&mut self.moment, value);
                self.moment_is_begin = field == Field::Began;
            }
            Field::Client => replace(&mut self.client, value),
            Field::Host if self.client.is_empty() => replace(&mut self.client, value),
            Field::Cookie => replace(&mut self.cookie, value),
            Field::ContentType => replace(&mut self.content_type, value),
            Field::Body => replace(&mut self.body, value),
            Field::Host | Field::Ignored => {}
        }
    }

    fn set_request(&mut self, value: &[u8]) {
        let mut words = value.split(|byte| *byte == b' ');
        let (Some(method), Some(uri)) = (words.next(), words.next()) else {
            return;
        };
        replace(&mut self.method, method);
        replace(&mut self.uri, uri);
    }
}

fn replace(buffer: &mut Vec<u8>, value: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(value);
}

fn whole(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u64::from(byte - b'0'))
    })
}

/// Reads a decimal such as `0.123` in a unit as microseconds; more than 71 minutes are clamped.
fn micros(value: &[u8], unit: Unit) -> Option<u32> {
    let (places, value) = match unit {
        Unit::Seconds => (6, value),
        Unit::Millis => (3, value),
        Unit::Micros => (0, value),
    };
    let (before, after) = match value.iter().position(|byte| *byte == b'.') {
        Some(point) => (&value[..point], &value[point + 1..]),
        None => (value, &value[..0]),
    };
    let mut sum = whole(before)?;
    for place in 0..places {
        let digit = after.get(place).copied().unwrap_or(b'0');
        if !digit.is_ascii_digit() {
            return None;
        }
        sum = sum
            .saturating_mul(10)
            .saturating_add(u64::from(digit - b'0'));
    }
    Some(u32::try_from(sum).unwrap_or(u32::MAX))
}

/// Returns the last of `10.0.0.2:80, 10.0.0.3:80 : unix:/run/app`; nothing for `-`.
fn last_address(value: &[u8]) -> &[u8] {
    let blank = value.iter().rposition(|byte| *byte == b' ');
    match &value[blank.map_or(0, |at| at + 1)..] {
        b"-" => b"",
        last => last,
    }
}

/// Reads `0.000, 0.201 : 0.003`: nginx asked one server after another.
fn upstream(value: &[u8]) -> Option<u32> {
    let parts = value
        .split(|byte| b",: ".contains(byte))
        .filter(|part| !part.is_empty());
    let mut times = parts
        .filter_map(|part| micros(part, Unit::Seconds))
        .peekable();
    times.peek()?;
    Some(times.fold(0, u32::saturating_add))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_their_units() {
        assert_eq!(micros(b"0.123", Unit::Seconds), Some(123_000));
        assert_eq!(micros(b"12", Unit::Seconds), Some(12_000_000));
        assert_eq!(micros(b"1.5", Unit::Millis), Some(1_500));
        assert_eq!(micros(b"1234", Unit::Micros), Some(1_234));
        assert_eq!(micros(b"-", Unit::Seconds), None);
        assert_eq!(micros(b"0.1x", Unit::Seconds), None);
        assert_eq!(micros(b"99999.0", Unit::Seconds), Some(u32::MAX));
        assert_eq!(upstream(b"0.000, 0.201 : 0.003"), Some(204_000));
        assert_eq!(upstream(b"-"), None);
        assert_eq!(upstream(b"-, 0.5"), Some(500_000));
        assert_eq!(last_address(b"10.0.0.2:80, 10.0.0.3:80"), b"10.0.0.3:80");
        assert_eq!(last_address(b"-"), b"");
        assert_eq!(last_address(b"unix:/run/app.sock"), b"unix:/run/app.sock");
    }
}
