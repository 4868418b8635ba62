//! The latencies of each stretch as an HdrHistogram log of version 2, which other tools read and
//! add up.

use std::io::{self, Write};
use std::time::{Duration, SystemTime};

pub use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{
    IntervalLogWriter, IntervalLogWriterBuilder, IntervalLogWriterError,
};
use load::Interval;
use recording::Nanos;

/// Nanoseconds in a millisecond: maxima in the log are in milliseconds, as in other tools' logs.
const NANOS_A_MILLISECOND: f64 = 1e6;

/// An open log, borrowed from output and serializer.
pub struct HdrLog<'a, W: Write> {
    writer: IntervalLogWriter<'a, 'a, W, V2DeflateSerializer>,
    length: Nanos,
}

impl<'a, W: Write> HdrLog<'a, W> {
    /// Begins a log of intervals of `length` each, counted from the start of the measured part.
    pub fn begin(
        out: &'a mut W,
        serializer: &'a mut V2DeflateSerializer,
        start: SystemTime,
        length: Nanos,
    ) -> io::Result<HdrLog<'a, W>> {
        let writer = IntervalLogWriterBuilder::new()
            .add_comment("latency from due, nanoseconds; hakaru load")
            .with_start_time(start)
            .with_base_time(start)
            .with_max_value_divisor(NANOS_A_MILLISECOND)
            .begin_log_with(out, serializer)?;
        Ok(HdrLog { writer, length })
    }

    /// Writes an interval of the measured part; intervals of the warm-up are left out.
    pub fn add(&mut self, interval: &Interval) -> io::Result<()> {
        let Ok(number) = u32::try_from(interval.number) else {
            return Ok(());
        };
        let length = Duration::from_nanos(self.length.0);
        let written =
            (self.writer).write_histogram(&interval.latency, length * number, length, None);
        written.map_err(|error| match error {
            IntervalLogWriterError::IoError(error) => error,
            IntervalLogWriterError::SerializeError(error) => io::Error::other(error.to_string()),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use hdrhistogram::Histogram;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    use load::{Plan, measure};
    use scenario::Scenario;

    use super::*;

    /// The log of a load without any response within the limit: every request is in the log with
    /// the limit as latency.
    #[test]
    fn what_is_written_is_what_was_measured() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("the port");
        let plan = Plan {
            connections: 3,
            duration: Nanos(100_000_000),
            answer_timeout: Nanos(20_000_000),
            ..Plan::default()
        };
        let scenario = Scenario::single(&format!("http://{address}/")).expect("a URL");
        let (mut out, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
        let length = Nanos(50_000_000);
        let start = SystemTime::UNIX_EPOCH;
        let mut log = HdrLog::begin(&mut out, &mut serializer, start, length).expect("a log");
        let stop = AtomicBool::new(false);
        let measured = measure(&plan, &scenario, &stop, length, &mut |interval| {
            log.add(interval).expect("it is written");
        });
        let latency = measured.expect("the load runs").figures.latency;
        let mut sum = Histogram::<u64>::new(3).expect("digits");
        for entry in IntervalLogIterator::new(&out) {
            if let LogEntry::Interval(interval) = entry.expect("an entry") {
                sum.add(decoded(interval.encoded_histogram()))
                    .expect("a sum");
            }
        }
        assert!(latency.len() >= 3);
        assert_eq!(sum.len(), latency.len());
        assert_eq!(sum.value_at_quantile(0.5), latency.value_at_quantile(0.5));
    }

    fn decoded(text: &str) -> Histogram<u64> {
        let bytes = base64(text);
        let read = Deserializer::new().deserialize(&mut bytes.as_slice());
        read.expect("a histogram")
    }

    /// Base64 (RFC 4648, section 4), read for the test alone.
    fn base64(text: &str) -> Vec<u8> {
        const DIGITS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let (mut bits, mut held, mut bytes) = (0_u32, 0, Vec::new());
        for digit in text.bytes().filter(|digit| *digit != b'=') {
            let value = DIGITS
                .iter()
                .position(|known| *known == digit)
                .expect("a digit");
            bits = bits << 6 | value as u32;
            held += 6;
            if held >= 8 {
                held -= 8;
                bytes.push((bits >> held) as u8);
            }
        }
        bytes
    }
}
