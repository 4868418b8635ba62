//! Sends the figures of a load to a receiver of OpenTelemetry's protocol, as JSON over HTTP
//! (OTLP 1.x, metrics), once at the end.
//!
//! [`document`] and [`exponential`] are pure and have the names and the histograms; [`receiver`]
//! takes address, headers and resource from what was typed and from OpenTelemetry's variables;
//! [`send`] is the only part that waits. gRPC and protobuf are left out: each receiver of OTLP over
//! HTTP should read JSON.

mod document;
mod exponential;
mod receiver;
mod send;

pub use document::document;
pub use receiver::{Receiver, ReceiverError};
pub use send::{Delivery, SendError, TRIES, send};
