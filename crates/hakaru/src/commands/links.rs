//! `hakaru links`: the names by which the program is a drop-in for sqldef's commands and
//! benchmark_driver's.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use microbench_commands::DROP_IN;
use sqldef::Tool;

use crate::cli::LinksArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Creates the links and the folder; correct links stay.
pub(crate) fn links(args: &LinksArgs) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| {
        let message = format!("this program does not find itself: {error}");
        Failure::new(Exit::Failed, message)
    })?;
    fs::create_dir_all(&args.folder).map_err(|error| {
        let folder = args.folder.display();
        Failure::new(Exit::Failed, format!("cannot make {folder}: {error}"))
    })?;
    let names = Tool::ALL.into_iter().map(Tool::name).chain([DROP_IN]);
    for name in names {
        let path = args.folder.join(name);
        make(&program, &path, args.force).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::AlreadyExists => format!(
                    "{} is there already and something else; move it away, or say --force",
                    path.display()
                ),
                _ => format!("cannot make {}: {error}", path.display()),
            };
            Failure::new(Exit::Failed, message)
        })?;
        output::data(&format!("{}\n", path.display()));
    }
    Ok(Exit::Ok)
}

fn make(program: &Path, path: &Path, force: bool) -> io::Result<()> {
    if fs::read_link(path).is_ok_and(|target| target == program) {
        return Ok(());
    }
    if force && fs::symlink_metadata(path).is_ok_and(|found| !found.is_dir()) {
        fs::remove_file(path)?;
    }
    symlink(program, path)
}
