//! io_uring outside of Linux: nothing can be made.

use std::io;
use std::time::Duration;

use crate::poller::{Gather, Ready};
use crate::stream::Socket;

/// A ring, which cannot be had.
#[derive(Debug)]
pub(crate) enum Uring {}

/// A socket's place on a ring, which cannot be had.
#[derive(Debug)]
pub(crate) enum Lane {}

pub(crate) fn try_out() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

impl Uring {
    pub(crate) fn new() -> io::Result<Uring> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn lane(&self, _: &Socket, _: usize) -> io::Result<Lane> {
        match *self {}
    }

    pub(crate) fn wait(
        &mut self,
        _: Duration,
        _: Option<Gather>,
        _: &mut Vec<Ready>,
    ) -> io::Result<()> {
        match *self {}
    }
}

impl Lane {
    pub(crate) fn listen(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn read(&self, _: &mut [u8]) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn write(&self, _: &[u8], _: bool) -> io::Result<usize> {
        match *self {}
    }

    pub(crate) fn holds_back(&self) -> bool {
        match *self {}
    }

    pub(crate) fn has_ended(&self) -> bool {
        match *self {}
    }

    pub(crate) fn retire(&self, _: Socket) {
        match *self {}
    }
}
