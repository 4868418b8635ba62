//! Folders for the agent, the rings and the app's output during a run.

use std::ffi::OsString;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use app_process::Agent;
use recording::Trouble;
use tempfile::TempDir;

use crate::settings::Settings;
use ending::Failure;

/// Rings belong into memory; containers give `/dev/shm` 64 MB, of which each thread's ring takes
/// half a megabyte.
const SHARED_MEMORY: &str = "/dev/shm";

/// Room for the rings of 32 threads.
const RINGS_BYTES: u64 = 16 << 20;

/// Samples of each thread per second in a run: enough to see where a route's time goes in a minute,
/// at a cost far below what the run can measure.
pub const PROFILE_RATE: u64 = 100;

/// Folders of a run, private and removed at the end.
pub struct RunFolders {
    rings: TempDir,
    library_folder: Option<TempDir>,
    agent: Option<Agent>,
    log: Option<PathBuf>,
}

impl RunFolders {
    /// Makes the folders. Without a place for the agent the run goes on without the view from
    /// inside.
    pub(crate) fn new(
        settings: &Settings,
        troubles: &mut Vec<Trouble>,
    ) -> Result<RunFolders, Failure> {
        let rings = ring_folder(&settings.project).map_err(|error| {
            Failure::failed(format!(
                "no folder can be made for the agent's rings: {error}; set TMPDIR to a folder that can be written"
            ))
        })?;
        let (mut folder, mut agent) = (None, None);
        if settings.agent {
            match unpack(settings, rings.path()) {
                Ok((made, ready)) => (folder, agent) = (Some(made), Some(ready)),
                Err(error) => troubles.push(Trouble {
                    what: format!("the agent could not be unpacked: {error}"),
                    remedy: "set TMPDIR to a folder without spaces that can be written".to_owned(),
                }),
            }
        }
        let log = settings.project.join(store::FOLDER).join("app.log");
        Ok(RunFolders {
            rings,
            library_folder: folder,
            agent,
            log: can_be_written(&log).then_some(log),
        })
    }

    /// Returns the folders to be removed even after a killed program: rings hold memory.
    pub(crate) fn private(&self) -> Vec<PathBuf> {
        [Some(&self.rings), self.library_folder.as_ref()]
            .into_iter()
            .flatten()
            .map(|folder| folder.path().to_owned())
            .collect()
    }

    /// Folder of the agents' rings.
    pub(crate) fn rings(&self) -> &Path {
        self.rings.path()
    }

    /// What to load into the app.
    pub(crate) fn agent(&self) -> Option<Agent> {
        self.agent.clone()
    }

    /// Where the app's output is kept.
    pub(crate) fn log(&self) -> Option<PathBuf> {
        self.log.clone()
    }
}

/// Returns the first folder with room; where none has any, the agent reports the lack with the
/// first ring.
fn ring_folder(project: &Path) -> std::io::Result<TempDir> {
    let parents = [
        PathBuf::from(SHARED_MEMORY),
        std::env::temp_dir(),
        project.join(store::FOLDER),
    ];
    let make = |parent: &PathBuf| {
        tempfile::Builder::new()
            .prefix("hakaru-rings-")
            .tempdir_in(parent)
    };
    let roomy = parents.iter().filter(|parent| has_room(parent));
    let mut last = Err(std::io::ErrorKind::NotFound.into());
    for parent in roomy.chain(&parents) {
        last = make(parent);
        if last.is_ok() {
            break;
        }
    }
    last
}

fn has_room(folder: &Path) -> bool {
    rustix::fs::statvfs(folder)
        .is_ok_and(|found| found.f_bavail.saturating_mul(found.f_frsize) >= RINGS_BYTES)
}

/// Whether the log is writable: a full or read-only disk must not keep the app from running.
fn can_be_written(log: &Path) -> bool {
    std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(log)
        .is_ok()
}

/// What a command needs to have the agent inside, without a run's settings.
pub struct Inside {
    rings: TempDir,
    _library_folder: TempDir,
    agent: Agent,
}

impl Inside {
    /// Makes the folders.
    ///
    /// # Errors
    /// None can be made, or the agent cannot be unpacked.
    pub fn new(root: &Path) -> std::io::Result<Inside> {
        let rings = ring_folder(root)?;
        let (folder, agent) = unpack_for(root, root, rings.path())?;
        Ok(Inside {
            rings,
            _library_folder: folder,
            agent,
        })
    }

    /// Folder of the agents' rings.
    pub fn rings(&self) -> &Path {
        self.rings.path()
    }

    /// The variables to add, with the agent at the head of `RUBYOPT`.
    pub fn environment(&self) -> Vec<(String, OsString)> {
        let mut rubyopt = OsString::from("-r");
        rubyopt.push(&self.agent.library);
        if let Some(existing) = std::env::var_os("RUBYOPT").filter(|text| !text.is_empty()) {
            rubyopt.push(" ");
            rubyopt.push(existing);
        }
        let mut all = self.agent.env.clone();
        all.push(("RUBYOPT".to_owned(), rubyopt));
        all
    }
}

fn unpack(settings: &Settings, rings: &Path) -> std::io::Result<(TempDir, Agent)> {
    let root = settings
        .start
        .as_ref()
        .map_or(settings.project.as_path(), |spec| spec.directory.as_path());
    let (folder, mut agent) = unpack_for(&settings.project, root, rings)?;
    if settings.profile {
        let asked = format!("wall {} request", PROFILE_RATE);
        agent.env.push(("HAKARU_PROFILE".to_owned(), asked.into()));
    }
    Ok((folder, agent))
}

/// Unpacks the agent for an app below `root`.
fn unpack_for(project: &Path, root: &Path, rings: &Path) -> std::io::Result<(TempDir, Agent)> {
    let make = |parent: &Path| -> std::io::Result<(TempDir, PathBuf)> {
        let folder = tempfile::Builder::new()
            .prefix("hakaru-agent-")
            .tempdir_in(parent)?;
        let library = capture::unpack_agent(folder.path())?;
        Ok((folder, library))
    };
    // Not beside the rings: containers mount /dev/shm so that nothing can be executed from it.
    let (folder, library) =
        make(&std::env::temp_dir()).or_else(|_| make(&project.join(store::FOLDER)))?;
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let env: Vec<(String, OsString)> = vec![
        ("HAKARU_RING_DIR".to_owned(), rings.as_os_str().to_owned()),
        ("HAKARU_APP_ROOT".to_owned(), root.into_os_string()),
    ];
    Ok((folder, Agent { library, env }))
}
