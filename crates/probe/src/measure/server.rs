//! Measures a local database server by statements that only read.

use std::time::Duration;

use capture::{Catalogue, ExplainLimits};
use doctor::snapshot::{Database, DatabaseKind};

use super::client::AppRuby;
use super::{blocks, misses, ranges};

/// Least `random_page_cost` asked about.
const PAGE_COST_MIN: f64 = 3.0;

/// Measures what misses and plans cost, and stores it with the server; what cannot be measured
/// stays unknown.
pub(super) fn ask(url: &str, database: &mut Database, ruby: AppRuby<'_>) {
    let limits = ExplainLimits {
        connect: Duration::from_secs(1),
        statement: Duration::from_secs(1),
        ..ExplainLimits::default()
    };
    if database.kind == DatabaseKind::Sqlite {
        return;
    }
    let Ok(mut server) = Catalogue::open(url, limits) else {
        return;
    };
    if database.kind != DatabaseKind::Postgres {
        database.miss_ns = misses::cost(&mut server, ruby.lookups(url).ok());
        return;
    }
    database.miss_ns = blocks::cost(&mut server);
    let present = database.number("random_page_cost");
    let present = present.filter(|cost| *cost >= PAGE_COST_MIN);
    database.ranges = present.and_then(|present| ranges::compare(&mut server, present));
}
