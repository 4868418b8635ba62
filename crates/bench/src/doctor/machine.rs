//! Faults of the machine: made by root, undone on drop.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Number of other programs, each using a core.
pub(super) const BUSY: usize = 4;

/// Programs using a core each, ended on drop.
pub(super) struct Busy(Vec<Child>);

impl Busy {
    pub(super) fn start(count: usize) -> Result<Busy, Box<dyn Error>> {
        let mut all = Busy(Vec::new());
        for _ in 0..count {
            all.0.push(
                Command::new("sh")
                    .args(["-c", "while :; do :; done"])
                    .spawn()?,
            );
        }
        Ok(all)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns a shell line with the same programs, for an app's command line: ended with the app's
/// processes.
pub(super) fn busy_line() -> String {
    "(while :; do :; done) & ".repeat(BUSY)
}

/// A control group of version 1 with a quota.
pub(super) struct Group(PathBuf);

impl Group {
    /// With so much of a core.
    pub(super) fn of_quota(cores: f64) -> Result<Group, Box<dyn Error>> {
        let root = Path::new("/sys/fs/cgroup/cpu");
        if !root.join("cpu.cfs_quota_us").exists() && !root.join("cpu.shares").exists() {
            return Err("no control group of version 1 for the CPU is mounted".into());
        }
        let folder = root.join(format!("hakaru-bench-{}", std::process::id()));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let group = Group(folder);
        let quota = (cores * 100_000.0).round().to_string();
        fs::write(group.0.join("cpu.cfs_quota_us"), quota)?;
        Ok(group)
    }

    /// Returns the shell command for entering the group.
    pub(super) fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs;", self.0.display())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// A file system on a loop device with a limited number of writes per second.
pub(super) struct SlowDisk {
    device: String,
    pub(super) folder: PathBuf,
    rule: Option<(PathBuf, String)>,
}

impl SlowDisk {
    pub(super) fn make(folder: &Path, writes_per_s: u32) -> Result<SlowDisk, Box<dyn Error>> {
        let image = folder.join("disk.img");
        fs::File::create(&image)?.set_len(64 << 20)?;
        run(
            "mkfs.ext4",
            &["-q", "-O", "^has_journal", &image.display().to_string()],
        )?;
        let device = run(
            "losetup",
            &["--find", "--show", &image.display().to_string()],
        )?;
        let mut disk = SlowDisk {
            device: device.trim().to_owned(),
            folder: folder.join("disk"),
            rule: None,
        };
        fs::create_dir(&disk.folder)?;
        run("mount", &[&disk.device, &disk.folder.display().to_string()])?;
        let number = fs::read_to_string(format!(
            "/sys/block/{}/dev",
            disk.device.trim_start_matches("/dev/")
        ))?;
        let throttle = PathBuf::from("/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device");
        fs::write(&throttle, format!("{} {writes_per_s}", number.trim()))
            .map_err(|error| format!("{}: {error}", throttle.display()))?;
        disk.rule = Some((throttle, format!("{} 0", number.trim())));
        Ok(disk)
    }
}

impl Drop for SlowDisk {
    fn drop(&mut self) {
        if let Some((throttle, none)) = &self.rule {
            let _ = fs::write(throttle, none);
        }
        let _ = run("umount", &[&self.folder.display().to_string()]);
        let _ = run("losetup", &["--detach", &self.device]);
    }
}

/// A swap file, and a process with memory in the swap file.
pub(super) struct Swapped {
    file: PathBuf,
    group: PathBuf,
    child: Option<Child>,
}

impl Swapped {
    /// Starts a Ruby with 200 MB in a group limited to 64 MB.
    pub(super) fn make(folder: &Path) -> Result<Swapped, Box<dyn Error>> {
        let file = folder.join("swap");
        let group = PathBuf::from(format!(
            "/sys/fs/cgroup/memory/hakaru-bench-{}",
            std::process::id()
        ));
        run(
            "dd",
            &[
                "if=/dev/zero",
                &format!("of={}", file.display()),
                "bs=1M",
                "count=256",
                "status=none",
            ],
        )?;
        run("chmod", &["600", &file.display().to_string()])?;
        run("mkswap", &[&file.display().to_string()])?;
        run("swapon", &[&file.display().to_string()])?;
        let mut swapped = Swapped {
            file,
            group,
            child: None,
        };
        fs::create_dir(&swapped.group)?;
        fs::write(swapped.group.join("memory.limit_in_bytes"), "67108864")?;
        let enter = format!(
            "echo $$ > {}/cgroup.procs; exec ruby -e 'a = Array.new(200) {{ \"x\" * 1_000_000 }}; $stdout.puts 1; $stdout.flush; $stdin.read; a.size'",
            swapped.group.display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &enter])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let ready = child.stdout.take().ok_or("no pipe")?;
        swapped.child = Some(child);
        std::io::BufRead::read_line(&mut std::io::BufReader::new(ready), &mut String::new())?;
        Ok(swapped)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }
}

impl Drop for Swapped {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = run("swapoff", &[&self.file.display().to_string()]);
        let _ = fs::remove_dir(&self.group);
    }
}

/// Returns the faults impossible on the machine, each with a reason.
pub(super) fn impossible() -> Vec<(&'static str, String)> {
    let read = |path: &str| {
        fs::read_to_string(path)
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let status = read("/proc/self/status");
    let line = |name: &str| {
        status
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or("?")
            .replace('\t', " ")
    };
    let mut all = Vec::new();
    let bypass = line("Speculation_Store_Bypass");
    if !bypass.contains("thread") {
        let sys = read("/sys/devices/system/cpu/vulnerabilities/spec_store_bypass");
        all.push((
            "prctl",
            format!(
                "{bypass}; the kernel says {sys:?}, so prctl(PR_SET_SPECULATION_CTRL) is refused"
            ),
        ));
    }
    let branch = line("SpeculationIndirectBranch");
    if !branch.contains("conditional") {
        all.push((
            "seccomp without SPEC_ALLOW",
            format!("{branch}; a filter changes nothing of it"),
        ));
    }
    let clocks = read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let slow = ["hpet", "acpi_pm", "jiffies", "xen"];
    if !clocks.split(' ').any(|clock| slow.contains(&clock)) {
        all.push((
            "slow clock source",
            format!(
                "there are {clocks}, all read without a system call: one read takes {:.0} ns, a system call {:.0} ns",
                each_ns(std::time::Instant::now),
                each_ns(std::os::unix::process::parent_id)
            ),
        ));
    }
    all
}

/// Nanoseconds of a call, the best of five rounds.
fn each_ns<T>(call: impl Fn() -> T) -> f64 {
    const CALLS: u32 = 20_000;
    let round = |_| {
        let begin = std::time::Instant::now();
        for _ in 0..CALLS {
            std::hint::black_box(call());
        }
        begin.elapsed().as_nanos() as f64 / f64::from(CALLS)
    };
    (0..5).map(round).fold(f64::INFINITY, f64::min)
}

fn run(program: &str, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout)?),
        false => Err(format!(
            "{program} {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        )
        .into()),
    }
}
