//! Where the agent, its rings and the app's output go for the length of a run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use recording::Trouble;
use target::Agent;
use tempfile::TempDir;

use crate::exit::{Exit, Failure};
use crate::settings::Settings;

/// Rings belong into memory; containers give `/dev/shm` 64 MB, of which each thread's ring takes half
/// a megabyte.
const SHARED_MEMORY: &str = "/dev/shm";

/// Folders of this run, private and removed at its end.
pub(crate) struct Places {
    rings: TempDir,
    /// Kept only so that the library lives as long as the app.
    _library_folder: Option<TempDir>,
    agent: Option<Agent>,
    log: Option<PathBuf>,
}

impl Places {
    /// Makes them. Without a place for the agent the run goes on without the view from inside.
    pub(crate) fn new(
        settings: &Settings,
        troubles: &mut Vec<Trouble>,
    ) -> Result<Places, Failure> {
        let rings = ring_folder(&settings.project).map_err(|error| {
            Failure::new(
                Exit::Failed,
                format!("no folder can be made for the agent's rings: {error}; set TMPDIR to a folder that can be written"),
            )
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
        Ok(Places {
            rings,
            _library_folder: folder,
            agent,
            log: log.parent().is_some_and(Path::is_dir).then_some(log),
        })
    }

    /// Where the agents make their rings.
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

fn ring_folder(project: &Path) -> std::io::Result<TempDir> {
    let make = |parent: &Path| tempfile::Builder::new().prefix("hakaru-rings-").tempdir_in(parent);
    make(Path::new(SHARED_MEMORY))
        .or_else(|_| make(&std::env::temp_dir()))
        .or_else(|_| make(&project.join(store::FOLDER)))
}

fn unpack(settings: &Settings, rings: &Path) -> std::io::Result<(TempDir, Agent)> {
    let make = |parent: &Path| -> std::io::Result<(TempDir, PathBuf)> {
        let folder = tempfile::Builder::new().prefix("hakaru-agent-").tempdir_in(parent)?;
        let library = capture::unpack_agent(folder.path())?;
        Ok((folder, library))
    };
    // Not beside the rings: containers mount /dev/shm so that nothing can be executed from it.
    let (folder, library) =
        make(&std::env::temp_dir()).or_else(|_| make(&settings.project.join(store::FOLDER)))?;
    let root = settings
        .start
        .as_ref()
        .map_or(settings.project.as_path(), |spec| spec.directory.as_path());
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let env: Vec<(String, OsString)> = vec![
        ("HAKARU_RING_DIR".to_owned(), rings.as_os_str().to_owned()),
        ("HAKARU_APP_ROOT".to_owned(), root.into_os_string()),
    ];
    Ok((folder, Agent { library, env }))
}
