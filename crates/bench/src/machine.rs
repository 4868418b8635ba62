//! Description of the measuring machine, for later readers.

use std::process::Command;

/// Returns one line: processor, cores, kernel, and the first lines of the commands' output.
pub(crate) fn line(versions: &[&[&str]]) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = told
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    let mut parts = vec![format!("{cores} cores ({model})")];
    parts.push(format!("Linux {}", first_line(&["uname", "-r"])));
    parts.extend(versions.iter().map(|words| first_line(words)));
    parts.join(", ")
}

/// Today, UTC.
pub(crate) fn date() -> String {
    first_line(&["date", "-u", "+%F"])
}

fn first_line(words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let first = text
        .ok()
        .and_then(|text| text.lines().next().map(str::to_owned));
    first.unwrap_or_else(|| format!("{} unknown", words[0]))
}
