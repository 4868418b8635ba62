//! Makes the C library place the object's thread-local variables in every thread at once.
//!
//! Those of an object that is loaded late are otherwise allocated when a thread first touches them,
//! and where that fails (`ulimit -v`), the C library ends the process: the app would die of us. One
//! access by a fixed offset is enough to have all of them placed when the object is loaded; where
//! there is no room for that, the object does not load, and the app runs without it.
//!
//! On other machines than x86-64 compilers reach such variables through descriptors, which the C
//! library fills in that way by itself.

#[cfg(target_arch = "x86_64")]
std::arch::global_asm!(
    ".section .tbss.hakaru_agent_storage,\"awT\",@nobits",
    ".p2align 3",
    ".globl hakaru_agent_storage",
    ".hidden hakaru_agent_storage",
    "hakaru_agent_storage:",
    ".zero 8",
    ".size hakaru_agent_storage, 8",
    ".text",
);

/// Demands the fixed places; called once, as the object starts.
#[cfg(target_arch = "x86_64")]
pub(crate) fn fix() {
    // SAFETY: reads one entry of the object's own table of offsets.
    unsafe {
        std::arch::asm!(
            "mov {}, qword ptr [rip + hakaru_agent_storage@GOTTPOFF]",
            out(reg) _,
            options(nostack, preserves_flags, readonly)
        );
    }
}

/// Nothing has to be demanded.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn fix() {}
