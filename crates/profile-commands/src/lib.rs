//! `hakaru profile`: takes, shows, compares and exports profiles; and the profiles of runs.
//! `hakaru agent`: places the agent for apps started by somebody else.
//!
//! [`flags`] has the command line; `take` starts a command with the sampler inside, `attach` asks a
//! process that stands by, `kept` reads stored ones, `requests` knows the request of each sample.

mod agent;
mod attach;
#[expect(
    missing_docs,
    reason = "doc comments here are the help of the command line, which needs none for groups of flags"
)]
pub mod flags;
mod kept;
mod requests;
mod take;

pub use agent::agent;
pub use ending::{Cause, Ended, Failure};
pub use requests::{keep_of_run, kept_of_run};

use report::profile::ProfileView;
use stacks::Profile;

use console::language;
use console::look;
use kept::Found;

use flags::{DiffArgs, ExportArgs, FilterArgs, ProfileArgs, ProfileCommand, ShowArgs};

/// Does what the command line says.
///
/// # Errors
/// The command line; a command that cannot be started or profiled; a profile or a page that cannot
/// be read or written.
pub fn profile(args: &ProfileArgs) -> Result<Ended, Failure> {
    match &args.action {
        Some(ProfileCommand::Show(args)) => show(args),
        Some(ProfileCommand::Diff(args)) => diff(args),
        Some(ProfileCommand::Export(args)) => export(args),
        None if args.pid.is_some() => attach::attach(args),
        None if args.command.is_empty() => Err(Failure::new(
            Cause::Usage,
            "nothing to profile: give a command, as in `hakaru profile -- ruby slow.rb`",
        )),
        None => take::take(args),
    }
}

fn show(args: &ShowArgs) -> Result<Ended, Failure> {
    let found = filtered(&args.profile, &args.filter)?;
    let view = ProfileView {
        number: found.number,
        profile: &found.profile,
        counted: None,
    };
    if let Some(path) = &args.html {
        console::html::write_html(path, &report::profile::to_html(&view, language::chosen()))?;
    }
    if let Some(name) = &args.around {
        let around = report::profile::around(
            &found.profile,
            name,
            look::page_columns(),
            language::chosen(),
        );
        console::data(&around.map_err(|error| Failure::new(Cause::Usage, error))?);
    } else if args.json {
        console::data(&report::profile::json(&view));
    } else if args.html.is_none() {
        console::data(&report::profile::page(
            &view,
            look::page_columns(),
            language::chosen(),
        ));
    }
    Ok(Ended::Ok)
}

fn diff(args: &DiffArgs) -> Result<Ended, Failure> {
    let before = filtered(&args.before, &args.filter)?.profile;
    let after = filtered(&args.after, &args.filter)?.profile;
    let diff = stacks::diff(&before, &after);
    if let Some(path) = &args.html {
        let page = report::profile::difference_to_html(&before, &after, &diff, language::chosen());
        console::html::write_html(path, &page)?;
    }
    if args.json {
        console::data(&report::profile::difference_json(&before, &after, &diff));
    } else if args.html.is_none() {
        console::data(&report::profile::difference(
            (&before, &after),
            &diff,
            look::page_columns(),
            language::chosen(),
        ));
    }
    Ok(Ended::Ok)
}

fn export(args: &ExportArgs) -> Result<Ended, Failure> {
    let found = filtered(&args.profile, &args.filter)?;
    let bytes = args.format.of().write(&found.profile);
    match &args.output {
        Some(path) => std::fs::write(path, bytes).map_err(|error| {
            Failure::new(
                Cause::Failed,
                format!("cannot write {}: {error}", path.display()),
            )
        })?,
        None => console::bytes(&bytes),
    }
    Ok(Ended::Ok)
}

fn filtered(text: &str, filter: &FilterArgs) -> Result<Found, Failure> {
    let mut found = kept::find(text)?;
    if filter.route.is_some() || filter.slow {
        found.profile = requests::only(&found, filter)?;
    }
    found.profile = by_stack(found.profile, filter)?;
    Ok(found)
}

fn by_stack(mut profile: Profile, filter: &FilterArgs) -> Result<Profile, Failure> {
    if let Some(name) = &filter.state {
        let state = stacks::State::ALL
            .into_iter()
            .find(|state| state.name() == name)
            .ok_or_else(|| {
                let names = stacks::State::ALL.map(stacks::State::name).join(", ");
                Failure::new(
                    Cause::Usage,
                    format!("{name:?} is no state; there are {names}"),
                )
            })?;
        profile = stacks::filter::only(&profile, |sample| sample.state == state);
    }
    if let Some(text) = &filter.focus {
        profile = stacks::filter::focus(&profile, text);
    }
    if filter.hide_gems {
        profile = stacks::filter::hide_gems(&profile);
    }
    if filter.fold_recursion {
        profile = stacks::filter::fold_recursion(&profile);
    }
    Ok(profile)
}
