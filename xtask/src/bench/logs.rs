//! `hakaru logs` beside alp and pt-query-digest. The benchmark itself is
//! `crates/bench/src/logs.rs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::program;
use crate::run::{Outcome, find_program, is_program, run, target_folder, write};

const ALP: &str = "github.com/tkuchiki/alp";
const ALP_VERSION: &str = "v1.0.21";

pub(crate) fn run_bench(arguments: &[String]) -> Outcome<()> {
    let folder = target_folder().join("bench/peers");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let alp = alp(&folder)?;
    let digest = pt_query_digest(&folder)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (alp, digest) = (text(&alp), text(&digest));
    let env = [
        ("HAKARU_BENCH_ALP", alp.as_str()),
        ("HAKARU_BENCH_PT_QUERY_DIGEST", digest.as_str()),
    ];
    program::run_with("logs", arguments, &env)
}

/// Builds alp from the Go module, once.
fn alp(folder: &Path) -> Outcome<PathBuf> {
    let program = folder.join("alp");
    if !is_program(&program) {
        let module = folder.join("alp-module");
        let text = format!("module peer\n\ngo 1.21\n\nrequire {ALP} {ALP_VERSION}\n");
        write(&module.join("go.mod"), &text)?;
        let mut build = Command::new("go");
        build
            .args(["build", "-mod=mod", "-o"])
            .arg(&program)
            .arg(format!("{ALP}/cmd/alp"));
        run(build.current_dir(&module))?;
    }
    Ok(program)
}

/// Returns pt-query-digest from `PATH`, or unpacks Debian's percona-toolkit; the script needs only
/// Perl.
fn pt_query_digest(folder: &Path) -> Outcome<PathBuf> {
    if let Some(installed) = find_program("pt-query-digest") {
        return Ok(installed);
    }
    let unpacked = folder.join("percona-toolkit");
    let program = unpacked.join("usr/bin/pt-query-digest");
    if !is_program(&program) {
        fs::create_dir_all(&unpacked).map_err(|error| error.to_string())?;
        let mut download = Command::new("apt-get");
        run(download
            .args(["download", "percona-toolkit"])
            .current_dir(&unpacked))?;
        let unpack = "dpkg-deb -x percona-toolkit_*.deb .";
        run(Command::new("sh")
            .args(["-c", unpack])
            .current_dir(&unpacked))?;
    }
    Ok(program)
}
