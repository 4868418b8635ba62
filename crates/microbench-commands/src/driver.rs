//! Ruby scripts with benchmark_driver's interface (`Benchmark.driver do |x|`): read by Ruby, with a
//! stand-in for the gem.

use std::path::Path;
use std::process::{Command, Stdio};

use microbench::driver::{self, Declared};

use super::resolve::{rubies, usage};
use crate::flags::BenchArgs;
use ending::{Cause, Failure};

/// Returns the command line equivalent to the scripts' declarations: generated YAML in place of
/// each, declared options where none was typed. `None` when no file has that interface.
pub(super) fn declared(args: &BenchArgs, folder: &Path) -> Result<Option<BenchArgs>, Failure> {
    let has_interface = |file: &String| {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        file.ends_with(".rb") && driver::is_declared_by(&text)
    };
    if !args.files.iter().any(has_interface) {
        return Ok(None);
    }
    let mut typed = args.clone();
    typed.files.clear();
    for file in &args.files {
        if !has_interface(file) {
            typed.files.push(file.clone());
            continue;
        }
        for (index, declared) in read(args, file, folder)?.into_iter().enumerate() {
            let path = folder.join(format!("{}-{index}.yml", file.replace('/', "_")));
            std::fs::write(&path, &declared.suite)
                .map_err(|error| Failure::new(Cause::Failed, error))?;
            typed.files.push(path.display().to_string());
            typed.runner = typed.runner.or(declared.runner);
            typed.output = typed.output.or(declared.output);
            typed.repeat_count = typed
                .repeat_count
                .or(declared.repeat_count.and_then(|count| count.parse().ok()));
            typed.executables.extend(declared.executables);
            typed.rbenv.extend(declared.rbenv);
            typed.rvm.extend(declared.rvm);
        }
    }
    Ok(Some(typed))
}

fn read(args: &BenchArgs, file: &str, folder: &Path) -> Result<Vec<Declared>, Failure> {
    let failed = |error: std::io::Error| Failure::new(Cause::Failed, error);
    std::fs::write(folder.join("benchmark_driver.rb"), driver::STAND_IN).map_err(failed)?;
    let jobs = folder.join("jobs");
    std::fs::write(&jobs, "").map_err(failed)?;
    let ruby = &rubies(args)?[0].command;
    let output = Command::new(&ruby[0])
        .arg("-I")
        .arg(folder)
        .arg(file)
        .env("HAKARU_BENCH_JOBS", &jobs)
        .stdin(Stdio::null())
        .output()
        .map_err(failed)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(usage(format!("{file} cannot be read by Ruby: {words}")));
    }
    driver::read(&std::fs::read_to_string(&jobs).map_err(failed)?).map_err(usage)
}
