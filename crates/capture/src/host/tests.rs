use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::parse::{CpuTicks, ProcessStat};
use recording::{DiskBytes, NetworkBytes};

use super::*;

#[test]
fn cpu_time_of_all_cores() {
    let check = |text: &str, expected: Option<(u64, u64, u64)>| {
        let ticks = |(busy_ticks, steal_ticks, idle_ticks)| CpuTicks {
            busy_ticks,
            steal_ticks,
            idle_ticks,
        };
        let expected = expected.map(ticks);
        assert_eq!(parse::cpu(text), expected, "{text}");
    };
    check(
        "cpu  41971 3 8937 364721 1916 7 172 42 0 0\ncpu0 19096 0 3555 185956 216 0 22 14 0 0\n",
        Some((41971 + 3 + 8937 + 7 + 172, 42, 364721 + 1916)),
    );
    check("cpu  1 2 3 4\n", Some((6, 0, 4)));
    check("cpu0 1 2 3 4\n", None);
    check("cpu  1 2\n", None);
    check("", None);
}

#[test]
fn cpu_time_by_core() {
    let text = "cpu  9 9 9 9 9\ncpu0 1 2 3 4 5 6 7 8\ncpu12 1 0 0 9\nintr 5\n";
    let ticks = |busy_ticks, steal_ticks, idle_ticks| CpuTicks {
        busy_ticks,
        steal_ticks,
        idle_ticks,
    };
    let expected = [(0, ticks(19, 8, 9)), (12, ticks(1, 0, 9))];
    assert_eq!(parse::cores(text), expected);
    assert_eq!(parse::cores("cpux 1 2 3 4\ncpu1 1 2\n"), []);
}

#[test]
fn pressure_is_what_some_task_felt() {
    let text = "some avg10=0.81 avg60=6.17 avg300=7.27 total=53211144\n\
                full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n";
    assert_eq!(parse::pressure(text), Some(Nanos(53_211_144_000)));
    assert_eq!(parse::pressure("full avg10=0.00 total=1\n"), None);
    assert_eq!(parse::pressure(""), None);
}

#[test]
fn memory_is_what_could_be_had() {
    let text = "MemTotal:       24684096 kB\nMemAvailable:   24109424 kB\n";
    assert_eq!(parse::memory_available(text), Some(24_109_424 * 1024));
    assert_eq!(parse::memory_available("MemTotal: 1 kB\n"), None);
}

#[test]
fn bytes_of_network_and_disks() {
    let text = "Inter-|   Receive                 |  Transmit\n face |bytes packets|bytes\n\
                    lo:  700 1 0 0 0 0 0 0  700 1 0 0 0 0 0 0\n\
                  eth0:  100 1 0 0 0 0 0 0   50 1 0 0 0 0 0 0\n\
                  eth1:   10 1 0 0 0 0 0 0    5 1 0 0 0 0 0 0\n";
    let expected = NetworkBytes {
        received: 110,
        sent: 55,
        loopback: 700,
    };
    assert_eq!(parse::network(text), Some(expected));
    assert_eq!(parse::network(""), None);
    let text = " 8 0 sda 9 0 4 0 9 0 6 0 0 0 0\n 8 1 sda1 9 0 4 0 9 0 6 0 0 0 0\n\
                 259 0 nvme0n1 9 0 10 0 9 0 0 0 0\n 259 1 nvme0n1p2 9 0 10 0 9 0 0 0 0\n\
                 7 0 loop0 9 0 99 0 9 0 99 0 0\n";
    let expected = DiskBytes {
        read: 14 * 512,
        written: 6 * 512,
    };
    assert_eq!(parse::disk(text), Some(expected));
    assert_eq!(parse::disk("8 0 sda\n"), None);
}

#[test]
fn connections_that_nobody_has_taken() {
    let text = "  sl  local_address rem_address   st tx_queue rx_queue tr\n\
        0: 0100007F:244C 00000000:0000 0A 00000000:0000000C 00:00000000\n\
        1: 0100007F:244C 0100007F:9C40 01 00000000:00000099 00:00000000\n\
        2: 0100007F:0050 00000000:0000 0A 00000000:00000001 00:00000000\n";
    assert_eq!(parse::backlog(text, 9292), Some(12));
    assert_eq!(parse::backlog(text, 9293), None);
}

#[test]
fn memory_workers_and_files_of_a_process() {
    let rollup = "00400000-7ffd [rollup]\nRss:  900 kB\nPss:  300 kB\nPss_Anon: 1 kB\n";
    assert_eq!(parse::kibibytes(rollup, "Pss:"), Some(300 * 1024));
    let title = "puma: cluster worker 3: 4121 [app]\0";
    assert_eq!(parse::worker(title), Some(3));
    assert_eq!(parse::worker("unicorn worker[1] -l 9292\0"), Some(1));
    assert_eq!(parse::worker("unicorn master -l 9292\0"), None);
    assert_eq!(parse::worker("puma 6.6.0 (tcp://0.0.0.0:9292) [app]"), None);
    let limits = "Limit  Soft Limit  Hard Limit  Units\nMax open files  1024  4096  files\n\
                  Max address space         unlimited            unlimited            bytes\n";
    assert_eq!(parse::soft_limit(limits, "Max open files"), Some(1024));
    assert_eq!(parse::soft_limit(limits, "Max address space"), None);
    let statistics = "inactive_file_old 1\ninactive_file 77\n";
    assert_eq!(parse::counted(statistics, "inactive_file"), Some(77));
}

#[test]
fn what_waits_on_a_real_port_is_counted() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let own = std::process::id();
    let mut sampler = HostSampler::new(&[(own, ProcessRole::App)]);
    sampler.answers_at(address.port());
    assert_eq!(sampler.sample().unwrap().backlog, Some(0));
    let _waiting = std::net::TcpStream::connect(address).unwrap();
    let sample = sampler.sample().unwrap();
    assert_eq!(sample.backlog, Some(1));
    let me = sample.processes.iter().find(|p| p.pid == own).unwrap();
    assert!(me.threads > 0 && me.fds.is_some_and(|fds| fds > 2));
}

#[test]
fn a_process_whatever_its_name() {
    let check = |name: &str, state: &str, ended: bool| {
        let text = format!(
            "15254 ({name}) {state} 15237 15237 4734 0 -1 4194304 101 0 0 0 12 30 0 0 20 0 1 0 \
             209499 3231744 416 18446744073709551615\n"
        );
        let expected = ProcessStat {
            name: name.to_owned(),
            ended,
            cpu_ticks: 42,
            threads: 1,
            started_ticks: 209_499,
        };
        assert_eq!(parse::process(&text), Some(expected));
    };
    check("ruby", "S", false);
    check("puma: 6.6 (a) b)", "R", false);
    check("", "Z", true);
    assert_eq!(parse::process("15254 (ruby) S 1 2"), None);
    assert_eq!(parse::process(""), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "[ -~\n]{0,200}") {
        let _ = (parse::cpu(&text), parse::pressure(&text), parse::memory_available(&text));
        let _ = (parse::process(&text), parse::resident_pages(&text));
        let _ = parse::children(&text).count();
        let _ = (parse::network(&text), parse::disk(&text), parse::backlog(&text, 80));
        let _ = (parse::counted(&text, "a"), parse::kibibytes(&text, "a"));
        let _ = (parse::worker(&text), parse::soft_limit(&text, "a"));
    }
}

#[test]
fn this_process_and_its_child_are_seen_and_the_end_of_the_child_too() {
    let own = std::process::id();
    let mut sampler = HostSampler::new(&[(own, ProcessRole::Generator)]);
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let first = sampler.sample().unwrap();
    let of = |sample: &HostSample, pid| sample.processes.iter().find(|p| p.pid == pid).cloned();
    let me = of(&first, own).unwrap();
    assert!(me.rss > 100_000 && me.role == ProcessRole::Generator);
    assert!(first.cpu_busy.0 > 0 && first.memory_available > 0);
    let found = of(&first, child.id()).unwrap();
    assert_eq!(found.role, ProcessRole::Generator);

    drop(child.stdin.take());
    child.wait().unwrap();
    let second = sampler.sample().unwrap();
    assert_eq!(of(&second, child.id()), None);
    assert!(second.at > first.at && second.cpu_busy >= first.cpu_busy);
}

/// Returns a `/proc` with one process of the given number and start.
fn proc_with(pid: u32, started: u64) -> tempfile::TempDir {
    let proc = tempfile::TempDir::new().unwrap();
    let put = |name: &str, text: &str| {
        let path = proc.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("stat", "cpu  100 0 0 0 0 0 0 5 0 0\n");
    put("meminfo", "MemAvailable: 2 kB\n");
    let stat = format!("{pid} (app) S 1 1 1 0 -1 0 0 0 0 0 7 0 0 0 20 0 1 0 {started} 0 3\n");
    put(&format!("{pid}/stat"), &stat);
    put(&format!("{pid}/statm"), "9 3 1 1 0 1 0\n");
    proc
}

fn sampler_on(proc: &Path, pid: u32) -> HostSampler {
    let units = Units {
        tick: Nanos(10_000_000),
        page_bytes: 4096,
    };
    HostSampler::on(proc.to_owned(), units, &[(pid, ProcessRole::App)])
}

#[test]
fn units_are_applied_and_missing_pressure_is_unknown() {
    let proc = proc_with(7, 1);
    let sample = sampler_on(proc.path(), 7).sample().unwrap();
    let expected = ProcessSample {
        pid: 7,
        role: ProcessRole::App,
        name: "app".to_owned(),
        cpu: Nanos(70_000_000),
        rss: 3 * 4096,
        threads: 1,
        ..ProcessSample::default()
    };
    assert_eq!(sample.processes, [expected]);
    assert_eq!(sample.cpu_busy, Nanos(1_000_000_000));
    assert_eq!(sample.cpu_steal, Nanos(50_000_000));
    assert_eq!((sample.cpu_pressure, sample.io_pressure), (None, None));
    assert_eq!(sample.memory_available, 2048);
}

#[test]
fn another_process_with_the_same_number_is_not_taken_for_it() {
    let first = proc_with(7, 1);
    let second = proc_with(7, 2);
    let mut sampler = sampler_on(first.path(), 7);
    assert_eq!(sampler.sample().unwrap().processes.len(), 1);
    sampler.proc = second.path().to_owned();
    assert_eq!(sampler.sample().unwrap().processes, []);
}

#[test]
fn without_proc_the_error_names_the_file() {
    let empty = tempfile::TempDir::new().unwrap();
    let said = sampler_on(empty.path(), 7)
        .sample()
        .unwrap_err()
        .to_string();
    assert!(
        said.starts_with("cannot read ") && said.contains("/stat: "),
        "{said}"
    );
}

#[test]
fn connections_that_were_opened_are_counted_by_name() {
    let text = "Ip: Forwarding\nIp: 1\nTcp: RtoAlgorithm MaxConn ActiveOpens PassiveOpens\nTcp: 1 -1 42 7\n";
    assert_eq!(parse::active_opens(text), Some(42));
    assert_eq!(parse::active_opens("Tcp: RtoAlgorithm\n"), None);
}
