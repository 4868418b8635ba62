//! Sockets over io_uring: sends are queued and submitted together with the wait for responses, and
//! one multishot receive per connection delivers all input, so a turn of the loop is one system
//! call for any number of connections.
//!
//! To its callers a [`Lane`] looks like a socket that never blocks. How the memory that the kernel
//! reads and writes stays valid:
//!
//! 1. What is received lands in [`Buffers`], which live as long as the ring. A buffer is the
//!    kernel's until a completion names it, ours until it is given back.
//! 2. What is sent is copied into the slot's own memory. That is never freed or moved while the
//!    ring lives; when a longer request needs more, the old memory is kept aside. It is written
//!    only when no send of the slot is under way, or when the server has answered what it held.
//! 3. A socket that is closed stays with its slot until every operation of the slot has ended, so
//!    that no descriptor in the queue can come to mean another socket. Slots are distinguished by a
//!    generation.
//! 4. Before all that goes, whatever is still under way is cancelled, and the cancelling is waited
//!    for.

mod buffers;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::rc::Rc;
use std::time::Duration;

use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{SendFlags, Shutdown, shutdown};

use crate::poller::{Gather, Ready};
use crate::stream::Socket;
use buffers::Buffers;

/// Greatest number of queued operations; more are submitted in between.
const QUEUE: u32 = 1024;
/// Capacity for completions; the kernel holds more aside.
const COMPLETIONS: u32 = 4096;
/// Largest send, in bytes, without a completion on success; nearly all succeed at once.
const QUIET_BYTES: usize = 16 * 1024;
/// Bytes of one send. A longer request is sent in pieces.
const SEND_BYTES_MAX: usize = 64 * 1024;
const BUFFER_GROUP: u16 = 0;
/// Nearly all sends are done on submission, and a wait for anything would end at once: beyond
/// several sends, one more thing is waited for. For so long at most, where one is not done. Beyond
/// a single send the timer costs more than the second wait (8 % of all CPU).
const BEYOND_SENDS: Gather = Gather {
    count: 1,
    micros: 1_000,
};

/// A ring with all resources.
pub(crate) struct Uring(Rc<RefCell<Inner>>);

/// One socket's place on a ring.
pub(crate) struct Lane {
    inner: Rc<RefCell<Inner>>,
    slot: u32,
}

struct Inner {
    // Dropped first, so that the kernel lets go before the memory does.
    ring: IoUring,
    buffers: Buffers,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Closed slots whose operations may not all have been handed over.
    retiring: Vec<u32>,
    /// Memory too small for a later request, and still readable by the kernel.
    outgrown: Vec<Vec<u8>>,
    seen: Vec<Seen>,
    /// Sends queued since the last wait whose completion will be reported.
    told_sends: usize,
}

#[derive(Default)]
struct Slot {
    token: usize,
    fd: RawFd,
    generation: u32,
    /// Operations whose completion is awaited.
    pending: u32,
    receiving: bool,
    sending: bool,
    /// Socket of a closed slot.
    closed: Option<Socket>,
    out: Vec<u8>,
    inbox: VecDeque<Piece>,
    /// How the other side's bytes ended: properly, or with an error's number.
    ended: Option<Result<(), i32>>,
}

/// A received part of a buffer, not read yet.
#[derive(Clone, Copy)]
struct Piece {
    buffer: u16,
    begin: u32,
    end: u32,
}

#[derive(Clone, Copy)]
struct Seen {
    user_data: u64,
    result: i32,
    flags: u32,
}

/// What an operation was for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Connect,
    Receive,
    Send,
    /// A send with a completion only on failure.
    QuietSend,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Connect, Kind::Receive, Kind::Send, Kind::QuietSend];
}

/// Checks whether the kernel and restrictions of the process allow the needed operations.
///
/// # Errors
/// What the system said.
pub(crate) fn try_out() -> io::Result<()> {
    Uring::new().map(drop)
}

impl Uring {
    /// Returns a ring of the calling thread, for use on the same thread only.
    pub(crate) fn new() -> io::Result<Uring> {
        let ring: IoUring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(QUEUE)?;
        let params = ring.params();
        if !params.is_feature_ext_arg() || !params.is_feature_skip_cqe_on_success() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let buffers = Buffers::register(&ring, BUFFER_GROUP)?;
        Ok(Uring(Rc::new(RefCell::new(Inner {
            ring,
            buffers,
            slots: Vec::new(),
            free: Vec::new(),
            retiring: Vec::new(),
            outgrown: Vec::new(),
            seen: Vec::new(),
            told_sends: 0,
        }))))
    }

    /// Returns a lane for a connecting socket; an event under `token` reports the end of
    /// connecting.
    pub(crate) fn lane(&self, socket: &Socket, token: usize) -> io::Result<Lane> {
        let mut inner = self.0.borrow_mut();
        let slot = inner.take_slot(token, socket.as_fd().as_raw_fd());
        inner.connect(slot)?;
        Ok(Lane {
            inner: Rc::clone(&self.0),
            slot,
        })
    }

    /// Hands over what is queued and waits until something happened, or for so long. Where several
    /// things are about to happen it may wait for them together, as `gather` allows.
    pub(crate) fn wait(
        &self,
        limit: Duration,
        gather: Option<Gather>,
        ready: &mut Vec<Ready>,
    ) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.enter(limit, gather)?;
        inner.release_retired();
        inner.reap(ready);
        Ok(())
    }
}

impl Inner {
    fn take_slot(&mut self, token: usize, fd: RawFd) -> u32 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let taken = &mut self.slots[slot as usize];
        (taken.token, taken.fd) = (token, fd);
        slot
    }

    fn enter(&mut self, limit: Duration, gather: Option<Gather>) -> io::Result<()> {
        let micros_max = u32::try_from(limit.as_micros()).unwrap_or(u32::MAX);
        let limit = Timespec::from(limit);
        let mut arguments = SubmitArgs::new().timespec(&limit);
        let mut count = 1;
        let sends = std::mem::take(&mut self.told_sends);
        if (gather.is_some() || sends > 1) && self.ring.params().is_feature_min_timeout() {
            let gather = gather.unwrap_or(BEYOND_SENDS);
            arguments = arguments.min_wait_usec(gather.micros.min(micros_max));
            count = gather.count + sends;
        }
        match self.ring.submitter().submit_with_args(count, &arguments) {
            // The time was over, a signal came, or the kernel wants its completions to be taken
            // first.
            Err(error) if is_one_of(&error, &[Errno::TIME, Errno::INTR, Errno::BUSY]) => Ok(()),
            other => other.map(drop),
        }
    }

    fn reap(&mut self, ready: &mut Vec<Ready>) {
        let mut seen = std::mem::take(&mut self.seen);
        seen.extend(self.ring.completion().map(|entry| Seen {
            user_data: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        }));
        ready.extend(seen.drain(..).filter_map(|seen| self.take(seen)));
        self.seen = seen;
    }

    /// What a completion means to the socket's user.
    fn take(&mut self, seen: Seen) -> Option<Ready> {
        let kind = Kind::ALL[(seen.user_data & 0xff) as usize];
        let index = (seen.user_data >> 8) as u32 & 0xff_ffff;
        let buffer = cqueue::buffer_select(seen.flags);
        let slot = &mut self.slots[index as usize];
        let own = slot.generation == (seen.user_data >> 32) as u32;
        if own && kind != Kind::QuietSend && !cqueue::more(seen.flags) {
            slot.pending -= 1;
        }
        if !own || slot.closed.is_some() {
            if let Some(buffer) = buffer {
                self.buffers.give_back(buffer);
            }
            if own {
                self.release(index);
            }
            return None;
        }
        match kind {
            Kind::Connect => {}
            Kind::Receive => {
                slot.receiving = cqueue::more(seen.flags);
                match (seen.result, buffer) {
                    (1.., Some(buffer)) => slot.inbox.push_back(Piece {
                        buffer,
                        begin: 0,
                        end: seen.result as u32,
                    }),
                    (0, _) => slot.ended = Some(Ok(())),
                    // All buffers were in use; the next read begins to receive again.
                    (error, _) if -error == Errno::NOBUFS.raw_os_error() => {}
                    (error, _) => slot.ended = Some(Err(-error)),
                }
            }
            // A connection that the other side broke tells so when receiving, behind what came
            // before.
            Kind::Send | Kind::QuietSend => {
                slot.sending = false;
                let error = -seen.result;
                let told = [Errno::PIPE, Errno::CONNRESET].map(Errno::raw_os_error);
                if error > 0 && !told.contains(&error) {
                    slot.ended = slot.ended.or(Some(Err(error)));
                }
            }
        }
        Some(Ready {
            index: slot.token,
            readable: kind == Kind::Receive || slot.ended.is_some(),
            writable: matches!(kind, Kind::Connect | Kind::Send),
            ended: slot.ended.is_some(),
        })
    }

    fn connect(&mut self, slot: u32) -> io::Result<()> {
        let fd = Fd(self.slots[slot as usize].fd);
        let flags = u32::from(PollFlags::OUT.bits());
        self.push(slot, Kind::Connect, opcode::PollAdd::new(fd, flags).build())
    }

    fn receive(&mut self, slot: u32) -> io::Result<()> {
        let fd = Fd(self.slots[slot as usize].fd);
        self.slots[slot as usize].receiving = true;
        let entry = opcode::RecvMulti::new(fd, BUFFER_GROUP).build();
        self.push(slot, Kind::Receive, entry)
    }

    /// Queues a send of what stands in the slot's memory.
    fn send(&mut self, index: u32, quiet: bool) -> io::Result<()> {
        let slot = &self.slots[index as usize];
        let flags = (SendFlags::NOSIGNAL.bits() | MSG_WAITALL) as i32;
        let entry = opcode::Send::new(Fd(slot.fd), slot.out.as_ptr(), slot.out.len() as u32)
            .flags(flags)
            .build();
        match quiet {
            true => {
                let entry = entry.flags(squeue::Flags::SKIP_SUCCESS);
                self.push(index, Kind::QuietSend, entry)
            }
            false => {
                self.slots[index as usize].sending = true;
                self.told_sends += 1;
                self.push(index, Kind::Send, entry)
            }
        }
    }

    fn push(&mut self, index: u32, kind: Kind, entry: squeue::Entry) -> io::Result<()> {
        let slot = &mut self.slots[index as usize];
        slot.pending += u32::from(kind != Kind::QuietSend);
        let entry =
            entry.user_data(u64::from(slot.generation) << 32 | u64::from(index) << 8 | kind as u64);
        if self.ring.submission().is_full() {
            self.ring.submit()?;
        }
        #[expect(unsafe_code, reason = "a queued operation holds addresses")]
        // SAFETY: the only addresses are those of the slot's memory, which stays where it is while
        // the ring lives (point 2 above), and the descriptor stays open until the slot is released
        // (point 3).
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| io::ErrorKind::QuotaExceeded.into())
    }

    /// Copies bytes into the slot's memory; how many.
    fn fill(&mut self, index: u32, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(SEND_BYTES_MAX);
        let out = &mut self.slots[index as usize].out;
        out.clear();
        if out.capacity() < taken {
            let larger = Vec::with_capacity(taken.next_power_of_two());
            let old = std::mem::replace(out, larger);
            self.outgrown.push(old);
        }
        let out = &mut self.slots[index as usize].out;
        out.extend_from_slice(&bytes[..taken]);
        taken
    }

    fn read(&mut self, index: u32, into: &mut [u8]) -> io::Result<usize> {
        let slot = &mut self.slots[index as usize];
        let mut taken = 0;
        while taken < into.len()
            && let Some(piece) = slot.inbox.front_mut()
        {
            let some = ((piece.end - piece.begin) as usize).min(into.len() - taken);
            let bytes = self.buffers.bytes(piece.buffer, piece.begin, some);
            into[taken..taken + some].copy_from_slice(bytes);
            taken += some;
            piece.begin += some as u32;
            if piece.begin == piece.end {
                self.buffers.give_back(piece.buffer);
                slot.inbox.pop_front();
            }
        }
        match slot.ended {
            _ if taken > 0 => Ok(taken),
            Some(Ok(())) => Ok(0),
            Some(Err(error)) => Err(io::Error::from_raw_os_error(error)),
            None => {
                if !slot.receiving {
                    self.receive(index)?;
                }
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }

    /// Releases a closed slot when the kernel has no operation of the slot left.
    fn release(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        if slot.pending > 0 || slot.closed.take().is_none() {
            return;
        }
        for piece in slot.inbox.drain(..) {
            self.buffers.give_back(piece.buffer);
        }
        slot.generation = slot.generation.wrapping_add(1);
        (slot.receiving, slot.sending, slot.ended) = (false, false, None);
        self.free.push(index);
    }

    fn release_retired(&mut self) {
        // The kernel may have been too busy to take the queue, which names their descriptors.
        if !self.ring.submission().is_empty() {
            return;
        }
        while let Some(index) = self.retiring.pop() {
            self.release(index);
        }
    }

    fn retire(&mut self, index: u32, socket: Socket) {
        let slot = &mut self.slots[index as usize];
        if slot.pending > 0 {
            // Ends what is under way. A socket that was never connected has nothing to end but its
            // poll, which ends with its connecting.
            let _ = shutdown(&socket, Shutdown::Both);
        }
        slot.closed = Some(socket);
        // What it queued since the last wait names its descriptor, which may be closed only behind
        // that.
        self.retiring.push(index);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let limit = Timespec::from(Duration::from_secs(1));
        // Nothing under way is an error here, and what cannot be cancelled goes with the ring.
        let _ = self.ring.submit();
        let _ = (self.ring.submitter()).register_sync_cancel(Some(limit), CancelBuilder::any());
    }
}

impl Lane {
    /// The socket is connected now: begins to receive.
    pub(crate) fn listen(&self) -> io::Result<()> {
        let mut inner = self.inner.borrow_mut();
        match inner.slots[self.slot as usize].receiving {
            true => Ok(()),
            false => inner.receive(self.slot),
        }
    }

    pub(crate) fn read(&self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.borrow_mut().read(self.slot, into)
    }

    /// Takes bytes for one send. With `alone` the server answers before anything else is sent, so
    /// that a short send needs no word that it is done.
    pub(crate) fn write(&self, bytes: &[u8], alone: bool) -> io::Result<usize> {
        let mut inner = self.inner.borrow_mut();
        let slot = &inner.slots[self.slot as usize];
        if let Some(Err(error)) = slot.ended {
            return Err(io::Error::from_raw_os_error(error));
        }
        if slot.sending {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let taken = inner.fill(self.slot, bytes);
        inner.send(self.slot, alone && bytes.len() <= QUIET_BYTES)?;
        Ok(taken)
    }

    /// Returns whether written bytes may not have been taken by the kernel.
    pub(crate) fn holds_back(&self) -> bool {
        self.inner.borrow().slots[self.slot as usize].sending
    }

    /// Whether nothing more will come, but what came already.
    pub(crate) fn has_ended(&self) -> bool {
        self.inner.borrow().slots[self.slot as usize]
            .ended
            .is_some()
    }

    /// Closes the socket as soon as the kernel has no operation of the slot left.
    pub(crate) fn retire(&self, socket: Socket) {
        self.inner.borrow_mut().retire(self.slot, socket);
    }
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane").field("slot", &self.slot).finish()
    }
}

/// `MSG_WAITALL` of sends: io_uring itself goes on with what the socket did not take at once.
const MSG_WAITALL: u32 = 0x100;

fn is_one_of(error: &io::Error, known: &[Errno]) -> bool {
    let number = error.raw_os_error();
    known
        .iter()
        .any(|errno| number == Some(errno.raw_os_error()))
}
