//! The program without symbols, for tests sending the program to other hosts. Of a debug
//! build that is a third of the bytes to read, hash and encrypt for each host.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the program without symbols, made once for each build.
pub fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let own = Path::new(env!("CARGO_BIN_EXE_hakaru"));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("small");
        let small = folder.join("hakaru");
        let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
        if changed(&small) > changed(own) {
            return small;
        }
        std::fs::create_dir_all(&folder).expect("a folder");
        // Another name first: several tests may do this at once.
        let beside = folder.join(format!("hakaru.{}", std::process::id()));
        let mut strip = Command::new("strip");
        let stripped = strip.arg("-o").arg(&beside).arg(own).status();
        let is_stripped = stripped.is_ok_and(|status| status.success());
        assert!(is_stripped, "strip, which comes with the linker, works");
        std::fs::rename(&beside, &small).expect("it has its name");
        small
    })
}
