//! Requests and spans in, the balance by route out.
//!
//! The balance is an exclusive partition of sent → answered wall time. No term is computed as the
//! rest of the others; what does not add up is `unaccounted`. *Late* (due → sent) stands beside it.
//!
//! [`join`] brings the client's and the app's view of each request together and names its route
//! (`routes` finds the names, `sites` the informative source lines); [`of`] adds them up
//! (`account`, `statements`, `answers`). [`seconds`] has the run second by second. No I/O; time and
//! space in proportion to the requests of the recording.
//!
//! Thread CPU is read on a uniform sample of requests, so *CPU* and *CPU wait* are the measured
//! running time split by that sample's ratio: the route's own, or the whole run's where the route
//! has none. Without any sample all running time is called CPU.

mod account;
mod answers;
mod cores;
mod join;
mod routes;
mod seconds;
mod sites;
mod statements;
#[cfg(test)]
mod tests;
mod threads;
mod types;

use recording::{Exchange, Recording};

pub use answers::{RouteAnswers, answers};
pub use cores::{CoreSpeed, core_speed};
pub use join::{Joined, Request, join};
pub use seconds::{Process, ProcessSecond, RubySecond, Second, Seconds, seconds};
pub use sites::{frames, frames_of, line_of, lines_of};
pub use threads::{ThreadUse, threads};
pub use types::{Answers, Balance, Breakdown, RouteAskedAgain, RouteBalance, SqlSummary};

use account::Account;

/// The balance of the measured window of `recording`.
pub fn of(recording: &Recording) -> Breakdown {
    let joined = join(recording);
    let mut accounts: Vec<Account> = joined
        .routes
        .iter()
        .map(|route| Account::new(route))
        .collect();
    let mut overall = Account::new("all");
    for request in &joined.requests {
        let same_host = recording.meta.same_host;
        accounts[request.route].add(request, same_host);
        overall.add(request, same_host);
    }
    let run_ratio = overall.cpu_ratio();
    let mut routes: Vec<(u64, RouteBalance)> = Vec::with_capacity(accounts.len());
    for account in accounts {
        let ratio = account.cpu_ratio().or(run_ratio);
        overall.add_route(&account, ratio);
        routes.push((account.service_ns(), account.finish(ratio)));
    }
    routes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.route.cmp(&b.1.route)));
    let mut routes: Vec<RouteBalance> = routes.into_iter().map(|(_, route)| route).collect();
    answers::add(recording, &joined, &mut routes);
    Breakdown {
        overall: overall.finish_split(),
        sql: statements::sum(recording, &joined),
        routes,
    }
}

/// Returns the mean time from sent to answered of the answered requests of the window, seconds;
/// `None` without one.
pub fn service_mean_s(recording: &Recording) -> Option<f64> {
    let is_answered = |one: &&Exchange| recording.window.contains(one.due) && one.was_answered();
    let answered = recording.exchanges.iter().filter(is_answered);
    let (sum, count) = answered.fold((0.0, 0u64), |(sum, count), one| {
        (sum + one.answered.since(one.sent).as_secs_f64(), count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}
