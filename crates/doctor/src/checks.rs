//! The checks: a file for each family, a table in each. Thresholds stand with the check that uses
//! them, their origin in its `source`.

mod app;
mod container;
mod counts;
mod cpu;
mod disk;
mod limits;
mod memory;
mod mysql;
mod mysql_use;
mod network;
mod noise;
mod postgres;
mod postgres_memory;
mod postgres_use;
mod replication;
mod ruby;
mod servers;
mod speculation;
mod sqlite;

use words::{Text, text};

use crate::Check;

/// All checks, in the order of the page.
pub fn all() -> impl Iterator<Item = &'static Check> {
    let families: [&[Check]; 17] = [
        speculation::CHECKS,
        noise::CHECKS,
        cpu::CHECKS,
        container::CHECKS,
        memory::CHECKS,
        limits::CHECKS,
        network::CHECKS,
        disk::CHECKS,
        ruby::CHECKS,
        app::CHECKS,
        servers::CHECKS,
        replication::CHECKS,
        mysql::CHECKS,
        mysql_use::CHECKS,
        postgres::CHECKS,
        postgres_use::CHECKS,
        sqlite::CHECKS,
    ];
    families.into_iter().flatten()
}

/// The first few of a list, and how many more.
fn some_of(names: &[String]) -> Text {
    const SHOWN: usize = 3;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => shown.join(", ").into(),
        Some(more) => text!(
            "{names} and {more} more",
            names = shown.join(", "),
            more = more.to_string()
        ),
    }
}

/// The first two numbers of a version.
fn release(version: &str) -> (u32, u32) {
    let mut numbers = version
        .split(|letter: char| !letter.is_ascii_digit())
        .map_while(|number| number.parse().ok());
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}
