//! Connections held back by `limit-rate`: no event of the socket announces the end of a rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use recording::Timestamp;

use super::Worker;
use crate::poller::Ready;
use crate::route::Routes;
use crate::stream::Stream;

/// When connections, or carriers of HTTP/2, go on.
#[derive(Debug, Default)]
pub(super) struct Resting {
    /// Whether any way to the server limits the rate.
    is_possible: bool,
    until: BinaryHeap<Reverse<(Timestamp, usize)>>,
}

impl Resting {
    pub(super) fn of(routes: &Routes) -> Resting {
        Resting {
            is_possible: routes.has_limit(),
            until: BinaryHeap::new(),
        }
    }

    /// Returns when the next one goes on.
    pub(super) fn next(&self) -> Option<Timestamp> {
        self.until.peek().map(|Reverse((at, _))| *at)
    }
}

impl Worker<'_> {
    /// Notes when a connection held back by a limit goes on.
    pub(super) fn note_rest(&mut self, index: usize) {
        if !self.resting.is_possible {
            return;
        }
        if let Some(at) = self.stream_of(index).and_then(Stream::take_resume) {
            self.resting.until.push(Reverse((at, index)));
        }
    }

    /// Keeps the end of the other side in mind, for the read at the end of a rest.
    pub(super) fn note_end(&mut self, event: Ready) {
        if event.ended
            && self.resting.is_possible
            && let Some(stream) = self.stream_of(event.index)
        {
            stream.note_end();
        }
    }

    /// Tries the connections again whose rest is over.
    pub(super) fn go_on_resting(&mut self, now: Timestamp) {
        while let Some(Reverse((at, index))) = self.resting.until.peek().copied()
            && at <= now
        {
            self.resting.until.pop();
            // Another connection may have come under the index.
            let stream = self.stream_of(index);
            if stream.is_some_and(|stream| stream.resumes(at)) {
                self.on_event(Ready {
                    index,
                    readable: true,
                    writable: true,
                    ended: false,
                });
            }
        }
    }

    /// Returns the stream behind events of `index`.
    fn stream_of(&mut self, index: usize) -> Option<&mut Stream> {
        match self.is_http2() {
            true => Some(&mut self.carriers.carrier_mut(index)?.stream),
            false => self.connections.get_mut(index)?.stream_mut(),
        }
    }
}
