//! Connections to database servers: TLS as asked for by an address ([`tls`]), and the drivers'
//! connections with TLS ([`mysql`], [`postgres`]). Who connects decides what is asked and how long.
//!
//! Invariant: sends no statement; no password reaches a message.

pub mod mysql;
pub mod postgres;
pub mod tls;

use std::fmt;

/// Why there is no connection.
#[derive(Debug)]
pub enum ConnectError<E> {
    /// The settings of TLS cannot be used, as a sentence.
    Settings(String),
    /// The driver's error.
    Driver(E),
}

impl<E: fmt::Display> fmt::Display for ConnectError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConnectError::Settings(message) => f.write_str(message),
            ConnectError::Driver(error) => error.fmt(f),
        }
    }
}

impl<E: fmt::Debug + fmt::Display> std::error::Error for ConnectError<E> {}

/// Returns a part of a URL with the escapes replaced: `%41` is `A`.
pub fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
