//! The process's context of every command: the current folder, a flag for Ctrl-C, and a shift of
//! the clocks.

pub(crate) use console::process::{current_folder, raised, stop_flag};

/// Returns the shift of the clocks reported by this process: a test plants one.
pub(crate) fn clock_shift() -> remote::Shift {
    const SHIFT: &str = "HAKARU_CLOCK_SHIFT_MS";
    let millis = std::env::var(SHIFT)
        .ok()
        .and_then(|text| text.parse::<i64>().ok());
    remote::Shift {
        nanos: millis.unwrap_or(0).saturating_mul(1_000_000),
    }
}
