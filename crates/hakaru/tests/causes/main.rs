//! Causes outside the example apps, each planted in an app of a few lines: from the agent, the load
//! generator or the database server to the finding. Each cause is several times as large as the
//! rule demands: a busy host may take cores and lengthen waits, and no test fails by that.

mod databases;
mod inside;
mod small;
