//! The few sums over a recording shown by terminal and JSON alike.

use breakdown::{CoreSpeed, RouteBalance};
use findings::Finding;
use recording::{HostSample, Nanos, ProcessRole, Recording, Window};

use crate::View;

/// Percentiles by nearest rank, in milliseconds. One that the samples cannot carry is `None`: at
/// least one sample must lie beyond it, so p50 needs 2 of them, p90 10, p95 20, p99 100.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// Median.
    pub p50: Option<f64>,
    /// 90 %.
    pub p90: Option<f64>,
    /// 95 %.
    pub p95: Option<f64>,
    /// 99 %.
    pub p99: Option<f64>,
    /// The greatest; known from the first sample on.
    pub max: Option<f64>,
}

/// Figures of a run for the journal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Points; `None` without a score.
    pub score: Option<f64>,
    /// Requests answered a second.
    pub rps: Option<f64>,
    /// Latency, milliseconds: p50, p95, p99.
    pub latency_ms: [Option<f64>; 3],
    /// Requests with an error.
    pub errors: u64,
    /// Requests with a response refused by the flow.
    pub checks_failed: u64,
}

impl Figures {
    /// Returns the figures of a run.
    pub fn of(recording: &Recording) -> Figures {
        let breakdown = breakdown::of(recording);
        let overall = &breakdown.overall;
        let percentiles = Percentiles::of(&overall.latency);
        let view = View {
            number: None,
            recording,
            breakdown: &breakdown,
            findings: &[],
            revision: None,
        };
        Figures {
            score: recording.score.as_ref().and_then(|score| score.points),
            rps: answered_per_second(&view),
            latency_ms: [percentiles.p50, percentiles.p95, percentiles.p99],
            errors: overall.errors,
            checks_failed: overall.checks_failed,
        }
    }
}

/// CPU and memory of host and processes in the measured window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostUse {
    /// Cores busy on average, used by any process.
    pub busy_cores: f64,
    /// Cores stolen by the hypervisor on average.
    pub steal_cores: f64,
    /// Share of the time in which some task waited for a core.
    pub cpu_pressure: Option<f64>,
    /// Share of the time in which some task waited for I/O.
    pub io_pressure: Option<f64>,
    /// Least memory available, bytes.
    pub memory_available_min: u64,
    /// Changes of the cores' speed; `None` where the cores were watched for less than some seconds.
    pub cores: Option<CoreSpeed>,
    /// CPU and memory by role, in the order app, database, generator; only observed roles.
    pub roles: Vec<RoleUse>,
}

/// CPU and memory of one role's processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoleUse {
    /// The role.
    pub role: ProcessRole,
    /// Cores used on average.
    pub cores: f64,
    /// Greatest resident memory of all processes of the role together, bytes.
    pub rss_max: u64,
}

/// Cost of the agents by the agents' own estimate, all processes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AgentCost {
    /// CPU time a request, microseconds; `None` before the first request.
    pub cpu_us_per_request: Option<f64>,
    /// Records lost.
    pub dropped: u64,
}

impl Percentiles {
    /// Returns the percentiles of values sorted ascending.
    pub fn of(sorted: &[Nanos]) -> Percentiles {
        let at = |q: f64, needed: usize| {
            let value = stats::quantile(sorted, q)?;
            (sorted.len() >= needed).then(|| value.as_millis_f64())
        };
        Percentiles {
            p50: at(0.50, 2),
            p90: at(0.90, 10),
            p95: at(0.95, 20),
            p99: at(0.99, 100),
            max: at(1.0, 1),
        }
    }
}

/// Returns the findings to fix, numbered from 1 in the order of the page. Findings about trust in
/// the numbers are shown apart and have no number.
pub fn fixes<'a>(view: &View<'a>) -> impl Iterator<Item = (u32, &'a Finding)> {
    (1..).zip(
        view.findings
            .iter()
            .filter(|finding| !finding.is_about_trust()),
    )
}

/// Requests answered a second of the measured window; `None` without one.
pub fn answered_per_second(view: &View<'_>) -> Option<f64> {
    let seconds = view.recording.window.length().as_secs_f64();
    (seconds > 0.0).then(|| view.breakdown.overall.answered as f64 / seconds)
}

/// CPU time of the generator's threads as a share of the time available: 1 is saturated.
pub fn generator_cpu_share(recording: &Recording) -> Option<f64> {
    let could = recording.window.length().as_secs_f64() * f64::from(recording.generator.threads);
    (could > 0.0).then(|| recording.generator.cpu.as_secs_f64() / could)
}

/// Cost of the agents; `None` without an agent.
pub fn agent_cost(recording: &Recording) -> Option<AgentCost> {
    let agents = &recording.agents;
    let requests: u64 = agents.iter().map(|agent| agent.requests).sum();
    let cost: Nanos = agents.iter().map(|agent| agent.cost).sum();
    (!agents.is_empty()).then(|| AgentCost {
        cpu_us_per_request: (requests > 0).then(|| cost.0 as f64 / 1e3 / requests as f64),
        dropped: agents.iter().map(|agent| agent.dropped).sum(),
    })
}

/// Mean time of a route's requests on a thread of the server, in milliseconds: from the start of
/// the handler to the return. `None` where the app was not observed.
pub fn thread_ms(route: &RouteBalance) -> Option<f64> {
    let balance = &route.balance;
    let held = route.seen_mean_ms - balance.queue - balance.respond;
    (route.answered > route.unseen).then(|| held.max(0.0))
}

/// A route's share of all the time for which routes held threads; `None` for a route not observed
/// in the app.
pub fn thread_share(route: &RouteBalance, routes: &[RouteBalance]) -> Option<f64> {
    let held = |route: &RouteBalance| Some(thread_ms(route)? * route.answered as f64);
    let all: f64 = routes.iter().filter_map(held).sum();
    held(route).map(|own| if all > 0.0 { own / all } else { 0.0 })
}

/// Routes by the time for which each holds the server's threads, routes not observed in the app
/// last. The queue says nothing of a route: under a closed load it is as long for all of them.
pub fn by_thread_time<'a>(view: &View<'a>) -> Vec<&'a RouteBalance> {
    let routes = &view.breakdown.routes;
    let mut ordered: Vec<&RouteBalance> = routes.iter().collect();
    let held = |route: &RouteBalance| thread_share(route, routes).unwrap_or(-1.0);
    ordered.sort_by(|a, b| held(b).total_cmp(&held(a)));
    ordered
}

/// A route's share of all time from sent to answered.
pub fn time_share(route: &RouteBalance, overall: &RouteBalance) -> f64 {
    let sum = |route: &RouteBalance| route.service.iter().copied().sum::<Nanos>().as_secs_f64();
    let all = sum(overall);
    if all > 0.0 { sum(route) / all } else { 0.0 }
}

/// CPU and memory of host and processes; `None` with fewer than two samples in the window.
pub fn host_use(recording: &Recording) -> Option<HostUse> {
    let samples = samples_of(&recording.host, &recording.window);
    let (first, last) = (samples.first()?, samples.last()?);
    let length = last.at.since(first.at).as_secs_f64();
    if length <= 0.0 {
        return None;
    }
    let per_second = |from: Nanos, to: Nanos| (to - from).as_secs_f64() / length;
    let pressure =
        |of: fn(&HostSample) -> Option<Nanos>| Some(per_second(of(first)?, of(last)?).min(1.0));
    Some(HostUse {
        busy_cores: per_second(first.cpu_busy, last.cpu_busy),
        steal_cores: per_second(first.cpu_steal, last.cpu_steal),
        cpu_pressure: pressure(|sample| sample.cpu_pressure),
        io_pressure: pressure(|sample| sample.io_pressure),
        memory_available_min: samples
            .iter()
            .map(|sample| sample.memory_available)
            .min()
            .unwrap_or(0),
        cores: breakdown::core_speed(recording),
        roles: [
            ProcessRole::App,
            ProcessRole::Database,
            ProcessRole::Store,
            ProcessRole::Generator,
        ]
        .into_iter()
        .filter_map(|role| role_use(role, &samples, length))
        .collect(),
    })
}

fn samples_of<'a>(samples: &'a [HostSample], window: &Window) -> Vec<&'a HostSample> {
    samples
        .iter()
        .filter(|sample| window.start <= sample.at && sample.at <= window.end)
        .collect()
}

fn role_use(role: ProcessRole, samples: &[&HostSample], length: f64) -> Option<RoleUse> {
    let of_role = |sample: &HostSample| -> Vec<(u32, Nanos)> {
        let processes = sample.processes.iter();
        let of_role = processes.filter(|process| process.role == role);
        of_role.map(|process| (process.pid, process.cpu)).collect()
    };
    let resident = |sample: &&HostSample| -> Option<u64> {
        let processes = sample.processes.iter();
        let of_role = processes.filter(|process| process.role == role);
        of_role
            .map(|process| process.rss)
            .reduce(u64::saturating_add)
    };
    let rss_max = samples.iter().filter_map(resident).max()?;
    let mut cpu = Nanos::ZERO;
    for pair in samples.windows(2) {
        let before = of_role(pair[0]);
        for (pid, now) in of_role(pair[1]) {
            // A process not seen before started in between, at zero.
            let then = before.iter().find(|(other, _)| *other == pid);
            cpu += now - then.map_or(Nanos::ZERO, |(_, cpu)| *cpu);
        }
    }
    Some(RoleUse {
        role,
        cores: cpu.as_secs_f64() / length,
        rss_max,
    })
}

#[cfg(test)]
mod tests {
    use recording::{AgentProcess, Generator, ProcessSample, Timestamp};

    use super::*;

    fn millis(count: u64) -> Vec<Nanos> {
        (1..=count).map(|ms| Nanos(ms * 1_000_000)).collect()
    }

    #[test]
    fn percentiles_that_the_samples_cannot_carry_are_left_out() {
        let check = |count, known: [bool; 5]| {
            let found = Percentiles::of(&millis(count));
            let found = [found.p50, found.p90, found.p95, found.p99, found.max];
            assert_eq!(found.map(|value| value.is_some()), known, "{count} samples");
        };
        check(0, [false; 5]);
        check(1, [false, false, false, false, true]);
        check(2, [true, false, false, false, true]);
        check(19, [true, true, false, false, true]);
        check(99, [true, true, true, false, true]);
        check(100, [true; 5]);
        let found = Percentiles::of(&millis(100));
        assert_eq!((found.p50, found.p99), (Some(50.0), Some(99.0)));
    }

    fn sample(second: u64, processes: &[(u32, u64)]) -> HostSample {
        let process = |(pid, ms): &(u32, u64)| ProcessSample {
            pid: *pid,
            role: ProcessRole::App,
            name: "ruby".to_owned(),
            cpu: Nanos(ms * 1_000_000),
            rss: 50,
            ..ProcessSample::default()
        };
        HostSample {
            at: Timestamp::from_monotonic_nanos(second * 1_000_000_000),
            cpu_busy: Nanos(second * 1_500_000_000),
            cpu_steal: Nanos::ZERO,
            cpu_pressure: Some(Nanos(second * 250_000_000)),
            io_pressure: None,
            memory_available: 1000 - second,
            processes: processes.iter().map(process).collect(),
            ..HostSample::default()
        }
    }

    #[test]
    fn the_host_is_looked_at_in_the_window_only() {
        let at = |second: u64| Timestamp::from_monotonic_nanos(second * 1_000_000_000);
        let recording = Recording {
            window: Window {
                start: at(1),
                end: at(3),
            },
            host: vec![
                sample(0, &[(7, 0)]),
                sample(1, &[(7, 9000)]),
                sample(2, &[(7, 9500), (8, 100)]),
                sample(3, &[(7, 10_000), (8, 500)]),
                sample(4, &[(7, 99_000)]),
            ],
            ..Recording::default()
        };
        let role = RoleUse {
            role: ProcessRole::App,
            cores: 0.75,
            rss_max: 100,
        };
        let expected = HostUse {
            busy_cores: 1.5,
            steal_cores: 0.0,
            cpu_pressure: Some(0.25),
            io_pressure: None,
            memory_available_min: 997,
            cores: None,
            roles: vec![role],
        };
        assert_eq!(host_use(&recording), Some(expected));
        assert_eq!(host_use(&Recording::default()), None);
    }

    #[test]
    fn shares_of_generator_and_agent() {
        let at = |second: u64| Timestamp::from_monotonic_nanos(second * 1_000_000_000);
        let agent = |requests, cost, dropped| AgentProcess {
            requests,
            dropped,
            cost: Nanos(cost),
            ..AgentProcess::default()
        };
        let recording = Recording {
            window: Window {
                start: at(1),
                end: at(3),
            },
            generator: Generator {
                cpu: Nanos(1_000_000_000),
                threads: 2,
                unsent: 0,
            },
            agents: vec![agent(10, 20_000, 1), agent(30, 20_000, 2)],
            ..Recording::default()
        };
        assert_eq!(generator_cpu_share(&recording), Some(0.25));
        let expected = AgentCost {
            cpu_us_per_request: Some(1.0),
            dropped: 3,
        };
        assert_eq!(agent_cost(&recording), Some(expected));
        assert_eq!(generator_cpu_share(&Recording::default()), None);
        assert_eq!(agent_cost(&Recording::default()), None);
    }
}
