//! Memory for receiving by a ring: buffers of one size, provided to the kernel in a separate ring.

#![expect(unsafe_code, reason = "the kernel writes into this memory")]

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::ptr::NonNull;
use std::slice;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::IoUring;
use io_uring::types::BufRingEntry;

/// Buffers of a ring; a power of two. A buffer is taken for a moment only, so that few are enough.
const COUNT: u16 = 512;
/// Bytes of one: most responses fit, and a longer one takes several.
const BYTES: usize = 4096;
const PAGE: usize = 4096;

/// Memory written by both the kernel and the process.
pub(super) struct Buffers {
    /// The kernel's list of free buffers, one page-aligned block.
    entries: NonNull<BufRingEntry>,
    memory: NonNull<u8>,
    tail: u16,
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, PAGE).expect("a power of two, and no size near the limit")
}

fn entries_layout() -> Layout {
    layout(usize::from(COUNT) * size_of::<BufRingEntry>())
}

fn memory_layout() -> Layout {
    layout(usize::from(COUNT) * BYTES)
}

fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout's size is not zero.
    let memory = unsafe { alloc_zeroed(layout) };
    NonNull::new(memory).unwrap_or_else(|| handle_alloc_error(layout))
}

impl Buffers {
    /// Gives the kernel all buffers under the number `group`. They must outlive `ring`.
    pub(super) fn register(ring: &IoUring, group: u16) -> io::Result<Buffers> {
        let mut buffers = Buffers {
            entries: allocate(entries_layout()).cast(),
            memory: allocate(memory_layout()),
            tail: 0,
        };
        let address = buffers.entries.as_ptr() as u64;
        // SAFETY: the list is page-aligned, has COUNT entries, and is freed after the ring only.
        unsafe {
            (ring.submitter()).register_buf_ring_with_flags(address, COUNT, group, 0)?;
        }
        (0..COUNT).for_each(|buffer| buffers.give_back(buffer));
        Ok(buffers)
    }

    /// Returns part of a buffer named by a completion and not given back since.
    pub(super) fn bytes(&self, buffer: u16, begin: u32, length: usize) -> &[u8] {
        let begin = begin as usize;
        assert!(buffer < COUNT && begin + length <= BYTES);
        // SAFETY: within the block by the line above; it was zeroed at first and is not the
        // kernel's now.
        unsafe {
            let first = self
                .memory
                .as_ptr()
                .add(usize::from(buffer) * BYTES + begin);
            slice::from_raw_parts(first, length)
        }
    }

    /// Gives a buffer to the kernel.
    pub(super) fn give_back(&mut self, buffer: u16) {
        assert!(buffer < COUNT);
        let place = usize::from(self.tail % COUNT);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: both addresses lie within their blocks. The entry behind the tail is not the
        // kernel's: it has at most COUNT. The tail is stored with release, which the kernel's
        // acquire pairs with, so that it sees the entry whole. Its place is the last field of the
        // first entry, which the setters below do not touch.
        unsafe {
            let entry = &mut *self.entries.as_ptr().add(place);
            let first = self.memory.as_ptr().add(usize::from(buffer) * BYTES);
            entry.set_addr(first as u64);
            entry.set_len(BYTES as u32);
            entry.set_bid(buffer);
            let tail = BufRingEntry::tail(self.entries.as_ptr()).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: allocated by `register` with the same layouts, and the ring is gone.
        unsafe {
            dealloc(self.entries.as_ptr().cast(), entries_layout());
            dealloc(self.memory.as_ptr(), memory_layout());
        }
    }
}
