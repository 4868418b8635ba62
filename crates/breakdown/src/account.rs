//! Adds up one route's requests.

use recording::{Handled, Nanos, Outcome};

use crate::join::Request;
use crate::types::{Balance, RouteBalance};

/// Sums in nanoseconds, signed: a term may be below zero by the grain of the clocks.
#[derive(Default)]
struct Sums {
    queue: i64,
    receive: i64,
    gvl_wait: i64,
    gc: i64,
    sql: i64,
    http: i64,
    lock: i64,
    sleep: i64,
    other_io: i64,
    running: i64,
    respond: i64,
    unaccounted: i64,
    seen: i64,
    running_cpu: f64,
}

/// A mean, with how much each value counts.
#[derive(Default)]
struct Mean {
    sum: f64,
    weight: f64,
}

impl Mean {
    fn add(&mut self, value: f64, weight: f64) {
        self.sum += value * weight;
        self.weight += weight;
    }

    fn get(&self) -> Option<f64> {
        (self.weight > 0.0).then(|| self.sum / self.weight)
    }
}

/// Figures measured on some requests only, per request.
#[derive(Default)]
struct Sampled {
    /// Objects.
    allocations: Mean,
    /// Thread CPU, milliseconds.
    cpu_ms: Mean,
}

/// One route's requests so far.
#[derive(Default)]
pub(crate) struct Account {
    out: RouteBalance,
    sums: Sums,
    numbered: u64,
    statements: u64,
    sampled: Sampled,
    /// Samples of the routes summed up in the account.
    routes: Sampled,
    body_bytes: u64,
    /// Bodies of responses with a status of 2xx.
    shown_bytes: u64,
    shown: u64,
    sample_wall: Nanos,
    sample_cpu: Nanos,
}

impl Account {
    pub(crate) fn new(route: &str) -> Self {
        Account {
            out: RouteBalance {
                route: route.to_owned(),
                ..RouteBalance::default()
            },
            ..Account::default()
        }
    }

    pub(crate) fn add(&mut self, request: &Request<'_>, same_host: bool) {
        let exchange = request.exchange;
        let out = &mut self.out;
        out.requests += 1;
        if exchange.has_latency() {
            out.latency.push(exchange.answered.since(exchange.due));
        }
        if exchange.was_sent() {
            out.late.push(exchange.sent.since(exchange.due));
        }
        match exchange.outcome {
            Outcome::Ok => {}
            Outcome::CheckFailed => out.checks_failed += 1,
            Outcome::Unanswered => out.unanswered += 1,
            _ => out.errors += 1,
        }
        if !exchange.was_answered() {
            return;
        }
        out.answered += 1;
        out.service.push(exchange.answered.since(exchange.sent));
        self.body_bytes += exchange.body_bytes;
        out.body_bytes_max = out.body_bytes_max.max(exchange.body_bytes);
        if (200..300).contains(&exchange.status) {
            self.shown_bytes += exchange.body_bytes;
            self.shown += 1;
        }
        self.numbered += u64::from(!exchange.id.is_none());
        if let Some(handled) = request.handled {
            self.add_seen(request, handled, same_host);
        }
    }

    fn add_seen(&mut self, request: &Request<'_>, handled: &Handled, same_host: bool) {
        let exchange = request.exchange;
        let parts = &handled.parts;
        let seen = exchange.answered.signed_since(exchange.sent);
        let inside = handled.end.signed_since(handled.start);
        let (queue, respond) = if same_host {
            (
                handled.start.signed_since(exchange.sent),
                exchange.answered.signed_since(handled.end),
            )
        } else {
            (seen - inside, 0)
        };
        let ready = handled.ready.filter(|_| same_host);
        let receive = ready.map_or(0, |ready| ready.signed_since(exchange.sent));
        let sums = &mut self.sums;
        sums.seen += seen;
        sums.queue += queue;
        sums.receive += receive.clamp(0, queue.max(0));
        sums.gvl_wait += signed(parts.gvl_wait);
        sums.gc += signed(parts.gc);
        sums.sql += signed(parts.sql_running + parts.sql_waiting);
        sums.http += signed(parts.http_running + parts.http_waiting);
        sums.lock += signed(parts.lock);
        sums.sleep += signed(parts.sleep);
        sums.other_io += signed(parts.other_io);
        sums.running += signed(parts.running);
        sums.respond += respond;
        sums.unaccounted += seen - queue - respond - signed(parts.total());
        self.out.told += 1;
        self.statements += u64::from(handled.statements);
        if let Some(allocations) = handled.allocations {
            self.sampled.allocations.add(allocations as f64, 1.0);
        }
        if let Some(cpu) = handled.cpu {
            self.out.cpu_sampled += 1;
            self.sample_wall += cpu.running_wall;
            self.sample_cpu += cpu.running_cpu;
            let cpu_ms = cpu.total_cpu.as_millis_f64();
            self.sampled.cpu_ms.add(cpu_ms, 1.0);
        }
    }

    /// Share of running time on a core, from the sample; `None` without running time in the sample.
    pub(crate) fn cpu_ratio(&self) -> Option<f64> {
        (self.sample_wall > Nanos::ZERO)
            .then(|| (self.sample_cpu.0 as f64 / self.sample_wall.0 as f64).clamp(0.0, 1.0))
    }

    /// Sent → answered time of all answered requests, in nanoseconds.
    pub(crate) fn service_ns(&self) -> u64 {
        self.out.service.iter().copied().sum::<Nanos>().0
    }

    /// Adds a route: running time as CPU by the route's ratio, and the sampled requests by the
    /// route's number of requests. So the overall account is the sum of the routes', whichever
    /// requests were in the sample.
    pub(crate) fn add_route(&mut self, route: &Account, ratio: Option<f64>) {
        self.split_running(route.sums.running, ratio);
        let requests = route.out.answered as f64;
        let (from, to) = (&route.sampled, &mut self.routes);
        for (from, to) in [
            (&from.allocations, &mut to.allocations),
            (&from.cpu_ms, &mut to.cpu_ms),
        ] {
            if let Some(mean) = from.get() {
                to.add(mean, requests);
            }
        }
    }

    fn split_running(&mut self, running: i64, ratio: Option<f64>) {
        self.sums.running_cpu += running as f64 * ratio.unwrap_or(1.0);
    }

    /// Returns the balance, with running time split by `ratio`; without a ratio all is CPU.
    pub(crate) fn finish(mut self, ratio: Option<f64>) -> RouteBalance {
        self.split_running(self.sums.running, ratio);
        self.routes = std::mem::take(&mut self.sampled);
        self.finish_split()
    }

    /// Returns the balance of all added routes.
    pub(crate) fn finish_split(mut self) -> RouteBalance {
        let mut out = std::mem::take(&mut self.out);
        let seen = out.told;
        out.unseen = self.unseen(out.answered, seen);
        out.latency.sort_unstable();
        out.service.sort_unstable();
        out.late.sort_unstable();
        out.balance = self.balance(seen);
        out.seen_mean_ms = mean(self.sums.seen as f64, seen) / 1e6;
        out.statements = mean(self.statements as f64, seen);
        out.allocations = self.routes.allocations.get().unwrap_or_default();
        out.body_bytes = mean(self.body_bytes as f64, out.answered);
        out.shown_bytes = mean(self.shown_bytes as f64, self.shown);
        out.cpu_total_ms = self.routes.cpu_ms.get();
        out
    }

    /// Estimates the answered requests without a record of the app, from the numbered ones.
    fn unseen(&self, answered: u64, seen: u64) -> u64 {
        let missing = self.numbered.saturating_sub(seen);
        match self.numbered {
            0 => answered,
            all => (answered as f64 * missing as f64 / all as f64).round() as u64,
        }
    }

    fn balance(&self, seen: u64) -> Balance {
        let sums = &self.sums;
        let ms = |sum: i64| mean(sum as f64, seen) / 1e6;
        let cpu = mean(sums.running_cpu, seen) / 1e6;
        Balance {
            queue: ms(sums.queue),
            receive: ms(sums.receive),
            gvl_wait: ms(sums.gvl_wait),
            gc: ms(sums.gc),
            sql: ms(sums.sql),
            http: ms(sums.http),
            lock: ms(sums.lock),
            sleep: ms(sums.sleep),
            other_io: ms(sums.other_io),
            cpu,
            cpu_wait: ms(sums.running) - cpu,
            respond: ms(sums.respond),
            unaccounted: ms(sums.unaccounted),
        }
    }
}

fn signed(length: Nanos) -> i64 {
    i64::try_from(length.0).unwrap_or(i64::MAX)
}

/// Returns the mean; zero when nothing was counted, as the count beside says.
fn mean(sum: f64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { sum / count as f64 }
}
