//! Requests of a load sent again afterwards, each over a new connection.

use std::hash::{DefaultHasher, Hasher};
use std::time::{Duration, Instant};

use scenario::Scenario;

use super::line::{self, Line};
use crate::http1::{AnswerReader, Limits};
use crate::outcome::LoadError;
use crate::plan::Plan;
use crate::redact;
use crate::repeatable::Repeatable;
use crate::route::Routes;

/// Sends requests to the target of a load.
#[derive(Debug)]
pub struct Resend {
    routes: Routes,
    limits: Limits,
}

/// A response, with a hash in place of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Status code.
    pub status: u16,
    /// Names in lower case, and values.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Length of the body.
    pub body_bytes: u64,
    /// Hash of the whole body.
    pub body_hash: u64,
    /// Whether the body equals the last user's in the load.
    pub is_as_in_load: bool,
}

impl Resend {
    /// Looks up the ways to the server.
    ///
    /// # Errors
    /// A name without an address, or a certificate that cannot be read.
    pub fn new(plan: &Plan, scenario: &Scenario) -> Result<Resend, LoadError> {
        Ok(Resend {
            routes: Routes::of(scenario, plan)?,
            limits: Limits {
                head_bytes: plan.head_bytes_max,
                body_bytes: plan.body_bytes_max,
            },
        })
    }

    /// Sends one of the requests of `repeatable`, and reads the response.
    ///
    /// # Errors
    /// No complete response within the limit; a sentence.
    pub fn send(
        &self,
        repeatable: &Repeatable,
        request: &[u8],
        within: Duration,
    ) -> Result<Reply, String> {
        let limits = line::Limits {
            end: Instant::now() + within,
            body_bytes_max: self.limits.body_bytes,
        };
        let mut reader = AnswerReader::new(self.limits);
        reader.expect(false, usize::MAX, true);
        let (link, head_bytes_max) = (repeatable.link, self.limits.head_bytes);
        let route = self.routes.of_link(link);
        Line::connect(route, link, within, head_bytes_max, false)
            .and_then(|mut line| line.exchange(request, &mut reader, limits))
            .map_err(|(_, why)| redact::plain(&why))?;
        let answer = reader.answer(0);
        let mut hasher = DefaultHasher::new();
        hasher.write(answer.body);
        let header = |(name, value): (&[u8], &[u8])| {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            (name, value.to_vec())
        };
        Ok(Reply {
            status: answer.status,
            headers: answer.fields().map(header).collect(),
            body_bytes: reader.body_bytes(),
            body_hash: hasher.finish(),
            is_as_in_load: repeatable.is_body(reader.body_hash()),
        })
    }
}
