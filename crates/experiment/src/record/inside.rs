//! The rings of a run: of the app started, or of a running one with the agent inside.

use app_process::Running;
use capture::{Rings, StandbyError, standby_folders};
use recording::Trouble;

use super::facts;
use crate::settings::Settings;
use crate::workspace::RunFolders;

/// Opens the rings. Agents of a running app record from now on, until the value is dropped.
pub(super) fn rings(settings: &Settings, folders: &RunFolders, app: &Running) -> Rings {
    let none = || Rings::new(folders.rings());
    if !app.is_attached() {
        return none();
    }
    if let Some(folder) = &settings.rings {
        return Rings::of_running(folder);
    }
    // Empty for an app on another host or of another user.
    let pids = app.pids();
    if pids.is_empty() {
        return none();
    }
    match &standby_folders(&pids)[..] {
        [folder] => Rings::of_running(folder),
        _ => none(),
    }
}

/// What a run says of a running app: `None` where all is as with a started app.
pub(super) fn trouble(settings: &Settings, rings: &Rings, is_seen: bool) -> Option<Trouble> {
    let Some((folder, unread)) = rings.running() else {
        return Some(Trouble {
            what: "the app was already running, so there is no view from inside: no balance \
                   within the handler, no SQL, no GVL"
                .to_owned(),
            remedy: remedy_without_rings(settings),
        });
    };
    let folder = folder.display();
    match unread {
        Some(error) => Some(Trouble {
            what: format!(
                "there is no view from inside: the rings of the app in {folder} are not read: {error}"
            ),
            remedy: remedy_of(error).to_owned(),
        }),
        None if !is_seen => Some(Trouble {
            what: format!(
                "the agent with the rings in {folder} saw no request of this run, so there is no \
                 view from inside"
            ),
            remedy: "is it inside of the app at this URL? `rings` under [target] names another \
                     folder"
                .to_owned(),
        }),
        None => None,
    }
}

/// Names the rings of other apps of the host: the URL may be a web server's in front.
fn remedy_without_rings(settings: &Settings) -> String {
    let others = match facts::is_on_this_host(settings) {
        true => standby_folders(&[]),
        false => Vec::new(),
    };
    let others: Vec<String> = others.iter().map(|one| one.display().to_string()).collect();
    match others.is_empty() {
        true => "let hakaru start it: put its command into hakaru.toml; or put the agent into it \
                 (`hakaru agent FOLDER`), and run hakaru as the app's user or as root"
            .to_owned(),
        false => format!(
            "let hakaru start it: put its command into hakaru.toml; or name its rings with `rings` \
             under [target]: apps on this host have the agent, with rings in {folders}",
            folders = others.join(", ")
        ),
    }
}

fn remedy_of(error: &StandbyError) -> &'static str {
    match error {
        StandbyError::Missing => {
            "restart the app with the variables that `hakaru agent` printed; it needs Ruby 3.1 or \
             later, and Puma or Unicorn"
        }
        StandbyError::Foreign(_) => "run hakaru as that user, or as root",
        StandbyError::Busy => "wait until it has ended",
        StandbyError::Version(_) => {
            "place the agent of this program by `hakaru agent`, and restart the app"
        }
        StandbyError::Io(_) => "give the folder back to the app's user alone, or delete it",
    }
}
