//! A stream to the destination of a load: TCP or a Unix socket, with TLS or without.

mod blocking;
pub(crate) mod throttle;
mod tunnel;

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use recording::Timestamp;
use rustix::net::SendFlags;
use rustls::ClientConnection;

use crate::address::Address;
use crate::clock;
use crate::poller::Poller;
use crate::route::Route;
use crate::tls::{self, TlsClient};
use crate::uring::{Lane, Uring};

pub(crate) use blocking::Blocking;
use throttle::Throttle;
pub(crate) use tunnel::Tunnel;

/// A non-blocking stream.
#[derive(Debug)]
pub(crate) struct Stream {
    channel: Channel,
    tls: Option<Box<ClientConnection>>,
    /// There where the way to the server limits the rate.
    throttle: Option<Box<Throttle>>,
    /// A tunnel through a proxy, while being opened.
    tunnel: Option<Box<Tunnel>>,
}

/// A socket, and the lane on a ring when used through io_uring.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The socket, present until the drop.
    socket: Option<Socket>,
    lane: Option<Lane>,
    /// Whether an answer comes before anything else is written.
    takes_turns: bool,
}

#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    /// Begins to connect; events are reported under `index`.
    pub(crate) fn connect(route: &Route, poller: &Poller, index: usize) -> io::Result<Stream> {
        let tls = route.tls.as_ref().map(TlsClient::session).transpose()?;
        let tls = tls.map(Box::new);
        let mut channel = poller.connect(&route.address, index)?;
        channel.takes_turns = tls.is_none();
        let limit = route.bytes_per_second.map(Throttle::new);
        Ok(Stream {
            channel,
            tls,
            throttle: limit.map(Box::new),
            tunnel: Tunnel::of(route).map(Box::new),
        })
    }

    /// Returns when the stream is to be tried again by itself, since the limit of the rate lets
    /// nothing through until then; `None` also for a time returned before.
    pub(crate) fn take_resume(&mut self) -> Option<Timestamp> {
        self.throttle.as_mut()?.take_resume()
    }

    /// Returns whether the stream is to be tried again at `at`, as returned before.
    pub(crate) fn resumes(&mut self, at: Timestamp) -> bool {
        let throttle = self.throttle.as_mut();
        throttle.is_some_and(|throttle| throttle.resumes(at))
    }

    /// Remembers the end of the other side, as announced by an event, for a later read.
    pub(crate) fn note_end(&mut self) {
        if let Some(throttle) = &mut self.throttle {
            throttle.has_ended = true;
        }
    }

    /// Returns whether the begun connection is established now; TLS comes behind.
    pub(crate) fn is_connected(&self) -> io::Result<bool> {
        self.channel.is_connected()
    }

    /// From now on something may be written before what was written last is answered.
    pub(crate) fn talk_freely(&mut self) {
        self.channel.takes_turns = false;
    }

    /// Sends a few bytes before the close, if the socket has room at once.
    pub(crate) fn say_last(&mut self, bytes: &[u8]) {
        let Ok(socket) = self.channel.socket() else {
            return;
        };
        let mut direct = Direct(socket);
        // Who has gone already is told nothing.
        let _ = match &mut self.tls {
            Some(session) => tls::write(session, &mut direct, bytes),
            None => direct.write(bytes),
        };
    }

    /// Returns whether a read without a full buffer means an empty socket.
    pub(crate) fn tells_its_end(&self) -> bool {
        self.tls.is_none() && self.throttle.is_none()
    }

    /// Returns whether the stream has TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns the protocol chosen by the server by ALPN, empty without a choice; `None` without
    /// TLS.
    pub(crate) fn chosen_protocol(&self) -> Option<&[u8]> {
        let session = self.tls.as_ref()?;
        Some(session.alpn_protocol().unwrap_or_default())
    }

    /// Continues the opening of a tunnel and the TLS handshake, if any; returns whether nothing is
    /// left to do.
    pub(crate) fn shake_hands(&mut self) -> io::Result<bool> {
        if let Some(tunnel) = &mut self.tunnel {
            if !tunnel.go_on(&mut self.channel)? {
                return Ok(false);
            }
            self.tunnel = None;
        }
        match &mut self.tls {
            Some(session) => tls::shake_hands(session, &mut self.channel),
            None => Ok(true),
        }
    }

    /// Returns whether written bytes wait for the socket.
    pub(crate) fn holds_back(&self) -> bool {
        let session = self.tls.as_ref();
        session.is_some_and(|session| session.wants_write())
            || self.channel.lane.as_ref().is_some_and(Lane::holds_back)
    }

    /// Returns whether the other side is known to have closed, so nothing new will come.
    pub(crate) fn has_ended(&self) -> bool {
        let throttle = self.throttle.as_ref();
        self.channel.lane.as_ref().is_some_and(Lane::has_ended)
            || throttle.is_some_and(|throttle| throttle.has_ended)
    }

    fn read_at_once(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(session) => tls::read(session, &mut self.channel, buffer),
            None => self.channel.read(buffer),
        }
    }

    fn write_at_once(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(session) => tls::write(session, &mut self.channel, bytes),
            None => self.channel.write(bytes),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(throttle) = &mut self.throttle else {
            return self.read_at_once(buffer);
        };
        let now = clock::now();
        let allowed = throttle.readable(now).min(buffer.len());
        if allowed == 0 && !buffer.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let bytes = self.read_at_once(&mut buffer[..allowed])?;
        if let Some(throttle) = &mut self.throttle {
            throttle.has_read(bytes, now);
        }
        Ok(bytes)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(throttle) = &mut self.throttle else {
            return self.write_at_once(bytes);
        };
        let now = clock::now();
        let allowed = throttle.writable(now).min(bytes.len());
        if allowed == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let written = self.write_at_once(&bytes[..allowed])?;
        if let Some(throttle) = &mut self.throttle {
            throttle.has_written(written, now);
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            Some(session) => tls::flush(session, &mut self.channel),
            None => Ok(()),
        }
    }
}

/// No waiting, and no signal for a closed connection.
#[cfg(target_os = "linux")]
const QUIETLY: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);
/// No waiting. Rust's runtime ignores the signal for a closed connection.
#[cfg(not(target_os = "linux"))]
const QUIETLY: SendFlags = SendFlags::DONTWAIT;

/// Writes past the ring, which would send only after the socket is closed.
struct Direct<'a>(&'a Socket);

impl Read for Direct<'_> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }
}

impl Write for Direct<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, QUIETLY)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Channel {
    /// Returns a connecting socket, registered once and for all directions: edge-triggered, nothing
    /// needs to be changed later.
    pub(crate) fn epoll(
        address: &Address,
        registry: &Registry,
        token: Token,
    ) -> io::Result<Channel> {
        let directions = Interest::READABLE | Interest::WRITABLE;
        let mut socket = Socket::connect(address)?;
        match &mut socket {
            Socket::Tcp(stream) => registry.register(stream, token, directions)?,
            Socket::Unix(stream) => registry.register(stream, token, directions)?,
        }
        Ok(Channel::of(socket, None))
    }

    /// Returns a connecting socket, used through a ring.
    pub(crate) fn uring(address: &Address, uring: &Uring, index: usize) -> io::Result<Channel> {
        let socket = Socket::connect(address)?;
        let lane = uring.lane(&socket, index)?;
        Ok(Channel::of(socket, Some(lane)))
    }

    fn of(socket: Socket, lane: Option<Lane>) -> Channel {
        Channel {
            socket: Some(socket),
            lane,
            takes_turns: false,
        }
    }

    fn socket(&self) -> io::Result<&Socket> {
        self.socket
            .as_ref()
            .ok_or(io::ErrorKind::NotConnected.into())
    }

    fn is_connected(&self) -> io::Result<bool> {
        let socket = self.socket()?;
        if !socket.is_connected()? {
            return Ok(false);
        }
        if let Some(lane) = &self.lane {
            // A ring waits by itself, unless the socket says that nobody should.
            rustix::io::ioctl_fionbio(socket, false)?;
            lane.listen()?;
        }
        Ok(true)
    }
}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match (&mut self.socket, &self.lane) {
            (_, Some(lane)) => lane.read(buffer),
            (Some(Socket::Tcp(stream)), None) => stream.read(buffer),
            (Some(Socket::Unix(stream)), None) => stream.read(buffer),
            (None, None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match (&mut self.socket, &self.lane) {
            (_, Some(lane)) => lane.write(bytes, self.takes_turns),
            (Some(Socket::Tcp(stream)), None) => stream.write(bytes),
            (Some(Socket::Unix(stream)), None) => stream.write(bytes),
            (None, None) => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let (Some(lane), Some(socket)) = (&self.lane, self.socket.take()) {
            lane.retire(socket);
        }
    }
}

impl Socket {
    fn connect(address: &Address) -> io::Result<Socket> {
        match address {
            Address::Tcp(address) => TcpStream::connect(*address).map(Socket::Tcp),
            Address::Unix(path) => UnixStream::connect(path).map(Socket::Unix),
        }
    }

    fn is_connected(&self) -> io::Result<bool> {
        let (error, peer) = match self {
            Socket::Tcp(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
            Socket::Unix(stream) => (stream.take_error()?, stream.peer_addr().map(drop)),
        };
        match (error, peer) {
            (Some(error), _) => Err(error),
            (None, Ok(())) => {
                if let Socket::Tcp(stream) = self {
                    stream.set_nodelay(true)?;
                }
                Ok(true)
            }
            (None, Err(error)) if error.kind() == io::ErrorKind::NotConnected => Ok(false),
            (None, Err(error)) => Err(error),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(stream) => stream.as_fd(),
        }
    }
}
