//! Reads and measures what `doctor` looks at: the kernel's files, a process, Ruby, an app's folder,
//! databases, and in a few seconds what the machine's flags only claim.
//!
//! [`collect`] reads a snapshot of facts, [`measure`] adds figures to it. Start reading at
//! [`collect::collect`].
//!
//! Invariant: nothing is changed. A probe that could leave something behind (a `prctl`, a seccomp
//! filter) runs in a thread that ends with it. What cannot be read is listed in the snapshot, never
//! an error.

pub mod collect;
pub mod measure;
