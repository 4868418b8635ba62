//! What comes over WebSockets.

use recording::Outcome;
use scenario::Over;

use super::Worker;
use crate::connection::{Phase, Reading, Source};

impl Worker<'_> {
    /// Examines messages received before the step was due; returns whether there were any, in which
    /// case more may be due now.
    pub(super) fn look_aside(&mut self) -> bool {
        let any = !self.aside.is_empty();
        while let Some(index) = self.aside.pop() {
            self.on_messages(index, false);
        }
        any
    }

    /// Goes on with what comes over a connection's WebSocket.
    pub(super) fn on_messages(&mut self, index: usize, half_closed: bool) {
        let mut source = Source {
            half_closed,
            drained: false,
        };
        while self.connections[index].is_web_socket() {
            let connection = &mut self.connections[index];
            let reading = connection.hear(&mut self.read_buffer, &mut source);
            let (outcome, why) = match reading {
                Reading::Pending => return,
                Reading::Complete => {
                    self.complete(index);
                    continue;
                }
                Reading::Goodbye if connection.request.over == Over::Closing => {
                    self.complete(index);
                    continue;
                }
                Reading::Goodbye => (Outcome::Disconnected, connection.goodbye()),
                Reading::Closed => {
                    let why = "the WebSocket ended without a close frame";
                    (Outcome::Disconnected, why.to_owned())
                }
                Reading::Bad(why) => (Outcome::BadAnswer, why.to_owned()),
            };
            if connection.phase == Phase::InFlight {
                self.fail(index, outcome, &why);
            } else {
                connection.lost = Some(Box::new((outcome, why)));
                connection.close();
            }
        }
    }
}
