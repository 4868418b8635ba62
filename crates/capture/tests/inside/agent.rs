//! The agent inside a real Puma: every request is recorded once, whatever happens to the processes.

use std::collections::HashSet;

use recording::AgentProcess;

use crate::support::{Client, Puma};

const HELLO: &str = r#"
run ->(env) do
  case env["PATH_INFO"]
  when "/pid" then [200, {}, [Process.pid.to_s]]
  when "/header" then [200, {}, [env.keys.grep(/hakaru/i).inspect]]
  when "/fork"
    child = fork { exit!(0) }
    Process.wait(child)
    [200, {}, ["forked"]]
  when "/raise" then raise "no"
  when "/config" then [200, {}, [env["puma.config"].class.name]]
  when "/patch"
    Puma::Configuration::ConfigMiddleware.class_eval do
      def call(env)
        $count = $count.to_i + 1
        env["puma.config"] = @config
        @app.call(env)
      end
    end
    [200, {}, ["patched"]]
  when "/count" then [200, {}, [$count.to_s]]
  else [200, {}, ["hello"]]
  end
end
"#;

/// Sends the requests `first..first + count` over `connections` connections at once.
fn send(port: u16, connections: u64, first: u64, count: u64) -> u64 {
    let workers: Vec<_> = (0..connections)
        .map(|number| {
            std::thread::spawn(move || {
                let mut client = Client::connect(port);
                (first..first + count)
                    .filter(|id| id % connections == number)
                    .filter(|id| {
                        client
                            .get("/", *id)
                            .is_some_and(|(status, _)| status == 200)
                    })
                    .count() as u64
            })
        })
        .collect();
    workers
        .into_iter()
        .map(|worker| worker.join().expect("a client does not panic"))
        .sum()
}

fn ids(puma: &Puma) -> Vec<u64> {
    puma.handled.iter().map(|handled| handled.id.0).collect()
}

/// Returns the only process with handled requests. Every other Ruby process, such as the master of
/// a cluster, has loaded the agent and is as it was without.
fn server(puma: &Puma) -> AgentProcess {
    let (mut served, others): (Vec<_>, Vec<_>) = puma
        .rings
        .processes()
        .into_iter()
        .partition(|process| process.requests > 0);
    for other in others {
        let is_inert = other.server.is_empty() && !other.gvl && other.settings.is_empty();
        assert!(is_inert && other.troubles.is_empty(), "{other:?}");
        assert_eq!((other.dropped, other.cost.0), (0, 0), "{other:?}");
    }
    let server = served.pop().expect("a process with requests");
    assert!(served.is_empty(), "{served:?} beside {server:?}");
    server
}

#[test]
fn a_thousand_requests_are_seen_once_each() {
    let (puma, process) = a_thousand_requests(&["-t", "5:5"]);
    // A row of `cargo xtask rubies` may make a cluster of it.
    let has_master = process.pid != puma.pid();
    assert_eq!(puma.rings.processes().len(), 1 + usize::from(has_master));
    let cost_ns = process.cost.0 / process.requests;
    // On a fast core the two readings of the clock alone take some 40 ns.
    assert!((20..100_000).contains(&cost_ns), "{cost_ns} ns a request");
    println!("the agent says that it costs {cost_ns} ns a request");
}

#[test]
fn a_thousand_requests_of_a_worker_leave_its_master_inert() {
    let (puma, process) = a_thousand_requests(&["-w", "1", "-t", "5:5"]);
    assert_ne!(process.pid, puma.pid(), "a worker answers, not the master");
    let pids: Vec<u32> = puma.rings.processes().iter().map(|one| one.pid).collect();
    assert!(pids.len() == 2 && pids.contains(&puma.pid()), "{pids:?}");
}

fn a_thousand_requests(flags: &[&str]) -> (Puma, AgentProcess) {
    let mut puma = Puma::start(flags, HELLO);
    assert_eq!(send(puma.port, 4, 1, 1000), 1000);
    puma.poll_until("1,000 requests", |puma| puma.handled.len() >= 1000);
    let seen = ids(&puma);
    assert_eq!(seen.len(), 1000);
    assert_eq!(seen.iter().collect::<HashSet<_>>().len(), 1000);
    for handled in &puma.handled {
        assert_eq!(handled.status, 200);
        assert!(handled.ready.is_none_or(|ready| ready <= handled.start));
        assert_eq!(handled.parts.total(), handled.end.since(handled.start));
    }
    let process = server(&puma);
    assert!(process.troubles.is_empty(), "{:?}", process.troubles);
    assert!(process.gvl && process.server.starts_with("puma "));
    assert_eq!((process.requests, process.dropped), (1000, 0));
    (puma, process)
}

/// An app with a jumping clock for the agent's look at the agent's own cost: 10 ms in every seventh
/// look, on either side of the compared times, as under a host taking the core away.
const JUMPING_CLOCK: &str = r#"
HakaruAgent::Native.singleton_class.prepend(Module.new do
  def now
    @looks = @looks.to_i + 1
    @ahead = @ahead.to_i + (@looks % 7 == 4 ? 10_000_000 : 0)
    super + @ahead
  end
end)
run ->(_env) { [200, {}, ["hello"]] }
"#;

#[test]
fn pauses_of_the_host_do_not_change_what_the_agent_says_it_costs() {
    let mut puma = Puma::start(&["-t", "1:1"], JUMPING_CLOCK);
    assert_eq!(send(puma.port, 1, 1, 10), 10);
    puma.poll_until("the requests", |puma| puma.handled.len() >= 10);
    let processes = puma.rings.processes();
    let mut served = processes.iter().filter(|process| process.requests > 0);
    let process = served.next().expect("a process with requests");
    let cost_ns = process.cost.0 / process.requests;
    // On a fast core the two readings of the clock alone take some 40 ns.
    assert!((20..100_000).contains(&cost_ns), "{cost_ns} ns a request");
}

#[test]
fn a_cluster_survives_fork_and_a_killed_worker() {
    let mut puma = Puma::start(&["-w", "2", "--preload", "-t", "3:3"], HELLO);
    assert_eq!(send(puma.port, 4, 1, 500), 500);
    let (status, _) = puma.connect().get("/fork", 9001).expect("an answer");
    assert_eq!(status, 200);
    let (_, pid) = puma.connect().get("/pid", 9002).expect("an answer");
    let worker: i32 = pid.parse().expect("a process id");
    assert_ne!(
        worker as u32,
        puma.pid(),
        "a worker answers, not the master"
    );
    puma.poll_until("the requests before the kill", |puma| {
        puma.handled.len() >= 502
    });
    let worker = rustix::process::Pid::from_raw(worker).expect("a process id");
    rustix::process::kill_process(worker, rustix::process::Signal::KILL).expect("a kill");
    let answered = send(puma.port, 4, 1001, 498);
    puma.poll_until("all answered requests", |puma| {
        puma.handled.len() as u64 >= 502 + answered
    });
    let seen = ids(&puma);
    let distinct: HashSet<_> = seen.iter().collect();
    assert_eq!(seen.len(), distinct.len(), "no request is seen twice");
    assert!((1..=500).all(|id| distinct.contains(&id)));
    assert!(distinct.contains(&9001) && distinct.contains(&9002));
    assert!(
        puma.rings
            .processes()
            .iter()
            .all(|process| process.troubles.is_empty()),
        "{:?}",
        puma.rings.processes()
    );
    assert!(
        puma.rings
            .processes()
            .iter()
            .filter(|process| process.requests > 0)
            .all(|process| process.pid != puma.pid()),
        "the master records nothing"
    );
}

#[test]
fn requests_that_a_client_leaves_out_are_not_noted_down() {
    let mut puma = Puma::start(&["-t", "1:1"], HELLO);
    let thinned = recording::RequestId::THINNED.0;
    let mut client = puma.connect();
    let (foreign, left_out) = (0, 0);
    for id in [
        1,
        foreign,
        thinned | 2,
        left_out,
        left_out,
        thinned | 3,
        4,
        foreign,
        5,
    ] {
        assert_eq!(client.get("/", id), Some((200, "hello".to_owned())));
    }
    puma.poll_until("the last request", |puma| ids(puma).contains(&5));
    assert_eq!(ids(&puma), [1, 0, thinned | 2, thinned | 3, 4, 0, 5]);
}

#[test]
fn another_gem_may_replace_what_left_out_requests_go_through() {
    let mut puma = Puma::start(&["-t", "1:1"], HELLO);
    let thinned = recording::RequestId::THINNED.0;
    let left_out = 0;
    let mut client = puma.connect();
    let mut get = |path, id| client.get(path, id).map(|(_, body)| body);
    get("/", thinned | 1);
    let config = Some("Puma::Configuration".to_owned());
    assert_eq!(get("/config", left_out), config);
    get("/patch", left_out);
    get("/", thinned | 2);
    for _ in 0..3 {
        assert_eq!(get("/config", left_out), config);
    }
    assert_eq!(get("/count", left_out), Some("5".to_owned()));
    get("/", 3);
    puma.poll_until("the last request", |puma| ids(puma).contains(&3));
    assert_eq!(ids(&puma), [thinned | 1, thinned | 2, 3]);
    assert_eq!(puma.rings.processes()[0].troubles, [""; 0]);
}

#[test]
fn the_app_sees_nothing_of_the_agent() {
    let mut puma = Puma::start(&["-t", "1:1"], HELLO);
    let mut client = puma.connect();
    assert_eq!(
        client.get("/header", 1),
        Some((200, "[]".to_owned())),
        "neither the header nor a stamp reaches the app"
    );
    let (status, _) = client.get("/raise", 2).expect("an answer");
    assert_eq!(status, 500);
    puma.poll_until("both requests", |puma| puma.handled.len() == 2);
    assert_eq!(puma.handled[1].status, 0, "a raising handler has no status");
}

#[test]
fn a_library_that_does_not_load_leaves_the_app_alone() {
    let mut puma = Puma::start_prepared(&["-t", "1:1"], HELLO, &[], |agent| {
        std::fs::write(agent.join("hakaru_agent.so"), b"for another libc").expect("written");
    });
    let answer = puma.connect().get("/", 1);
    assert_eq!(answer, Some((200, "hello".to_owned())));
    puma.poll();
    let processes = puma.rings.processes();
    let [process] = processes.as_slice() else {
        panic!("{processes:?}");
    };
    assert!(process.ruby.starts_with("ruby "), "{process:?}");
    assert!(
        process.troubles[0].starts_with("the agent does not load: "),
        "{:?}",
        process.troubles
    );
}

/// Ruby 3.1 has no M:N threads and ignores the variable.
#[test]
fn threads_that_share_native_ones_are_not_watched() {
    let mut puma = Puma::start_with(&["-t", "3:3"], HELLO, &[("RUBY_MN_THREADS", "1")]);
    let answer = puma.connect().get("/", 1);
    assert_eq!(answer, Some((200, "hello".to_owned())));
    puma.poll_until("the agent's word", |puma| {
        !puma.rings.processes().is_empty()
    });
    let processes = puma.rings.processes();
    if processes[0].ruby.starts_with("ruby 3.1") {
        return;
    }
    let troubles: Vec<&str> = processes
        .iter()
        .flat_map(|one| &one.troubles)
        .map(String::as_str)
        .collect();
    assert!(
        troubles[0].starts_with("RUBY_MN_THREADS is set"),
        "{troubles:?}"
    );
    assert!(puma.handled.is_empty(), "{:?}", puma.handled);
}
