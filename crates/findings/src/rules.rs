//! The rules, one file each.

mod agent_blind;
mod answers_equal;
mod connections;
mod count_offset;
mod cpu_saturated;
mod database;
mod development_mode;
mod errors;
mod fd_limit;
mod few_samples;
mod gc_share;
mod generator_busy;
mod gvl_in_sql;
mod hollow_answers;
mod host_busy;
mod hot_method;
mod index_unusable;
mod io_calls;
mod large_bodies;
mod locks;
mod machine;
mod memory_growth;
mod memory_limit;
mod missing_index;
mod n_plus_one;
mod partials;
mod row_lock;
mod rows_examined;
mod rows_in_ruby;
mod several_updates;
mod slow_http;
mod static_files;
mod subprocess;
mod threads;
mod transaction_open;
mod transfer;
mod waits;
mod warming_up;
mod wide_columns;
mod workers;
mod works;

use crate::Finding;
use crate::context::Context;
pub use answers_equal::may_be_cached;

/// A rule.
type Rule = fn(&Context<'_>) -> Vec<Finding>;

/// All rules.
pub(crate) const ALL: [Rule; 41] = [
    errors::find,
    n_plus_one::find,
    missing_index::find,
    index_unusable::find,
    slow_http::find,
    waits::find,
    locks::find,
    gvl_in_sql::find,
    threads::find,
    workers::find,
    works::find,
    development_mode::find,
    gc_share::find,
    answers_equal::find,
    static_files::find,
    hot_method::find,
    partials::find,
    row_lock::find,
    transaction_open::find,
    rows_in_ruby::find,
    subprocess::find,
    large_bodies::find,
    io_calls::find,
    several_updates::find,
    count_offset::find,
    connections::find,
    wide_columns::find,
    rows_examined::find,
    database::find,
    transfer::find,
    cpu_saturated::find,
    memory_growth::find,
    fd_limit::find,
    memory_limit::find,
    hollow_answers::find,
    generator_busy::find,
    host_busy::find,
    machine::find,
    few_samples::find,
    warming_up::find,
    agent_blind::find,
];
