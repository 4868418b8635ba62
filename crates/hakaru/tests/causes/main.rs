//! Causes that no example app has, each planted in an app of a few lines: from the agent, the load
//! generator or the database server to the finding. Numbers are chosen such that each cause is
//! several times as large as it must be: a busy host may take cores and lengthen waits, and nothing
//! of that makes a test fail.

mod databases;
mod inside;
mod small;
