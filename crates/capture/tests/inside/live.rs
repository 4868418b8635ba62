//! Threads of a running Puma, changed by orders.

use std::time::Instant;

use capture::LiveProcess;

use crate::support::{PATIENCE, Puma};

/// App whose response names the process and the number of threads serving there.
const APP: &str = r##"
run ->(_env) do
  [200, {}, ["#{Process.pid} #{Thread.list.count { |thread| thread.name.to_s.match?(/ tp \d+/) }}"]]
end
"##;

/// Returns the process of the response, and the thread count.
fn served(puma: &Puma, id: u64) -> (u32, u32) {
    let (status, body) = puma.connect().get("/", id).expect("an answer");
    assert_eq!(status, 200);
    let mut numbers = body
        .split(' ')
        .map(|number| number.parse().expect("a number"));
    let mut next = || numbers.next().expect("two numbers");
    (next(), next())
}

fn check(flags: &[&str]) {
    let puma = Puma::start_with(flags, APP, &[("HAKARU_LIVE", "1")]);
    let (pid, threads) = served(&puma, 1);
    assert_eq!(threads, 2);
    let worker = LiveProcess::of(&puma.rings_folder(), pid).expect("it listens");
    assert_eq!(worker.threads(), None);
    for (id, wanted) in (2..).zip([5, 1, 1, 3]) {
        worker.ask(wanted).expect("it reads");
        let deadline = Instant::now() + PATIENCE;
        while worker.threads() != Some(wanted) {
            assert!(Instant::now() < deadline, "no {wanted} threads: {worker:?}");
            std::thread::yield_now();
        }
        assert_eq!(served(&puma, id), (pid, wanted));
        if wanted == 1 {
            makes_room(&puma);
        }
    }
}

/// Checks with one thread: a connection with a used-up share is ended when another one waits, even
/// under constant requests.
fn makes_room(puma: &Puma) {
    // Far more than the ten that are its share, so that the other one has come meanwhile.
    const REQUESTS_MAX: usize = 2_000;
    let mut busy = puma.connect();
    busy.get("/", 100).expect("an answer");
    // Not accepted, since the thread now waits for what else the first one asks.
    let mut other = puma.connect();
    std::thread::scope(|scope| {
        let other = scope.spawn(|| other.get("/", 101).map(|(status, _)| status));
        let went_on = (0..REQUESTS_MAX)
            .take_while(|_| !other.is_finished())
            .map(|_| busy.get("/", 102).expect("an answer"))
            .count();
        assert!(
            went_on < REQUESTS_MAX,
            "the other one waited for all of them"
        );
        assert_eq!(other.join().expect("it does not panic"), Some(200));
    });
}

#[test]
fn a_single_puma_gets_other_threads_while_it_runs() {
    check(&["-t", "2:2"]);
}

#[test]
fn a_worker_of_a_cluster_does_too() {
    check(&["-w", "1", "-t", "2:2"]);
}

#[test]
fn without_being_asked_for_nobody_listens() {
    let puma = Puma::start(&["-t", "2:2"], APP);
    let (pid, _) = served(&puma, 1);
    assert_eq!(LiveProcess::of(&puma.rings_folder(), pid), None);
}
