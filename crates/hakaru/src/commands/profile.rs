//! `hakaru profile`: takes, shows, compares and exports profiles.

mod attach;
mod kept;
mod requests;
mod take;

pub(crate) use requests::{keep_of_run, kept_of_run};

use report::profile::ProfileView;
use stacks::Profile;

use crate::exit::{Exit, Failure};
use console::language;
use crate::output::{self, look};
use kept::Found;

use crate::cli::profile::{
    DiffArgs, ExportArgs, FilterArgs, ProfileArgs, ProfileCommand, ShowArgs,
};

/// Does what the command line says.
pub(crate) fn profile(args: &ProfileArgs) -> Result<Exit, Failure> {
    match &args.action {
        Some(ProfileCommand::Show(args)) => show(args),
        Some(ProfileCommand::Diff(args)) => diff(args),
        Some(ProfileCommand::Export(args)) => export(args),
        None if args.pid.is_some() => attach::attach(args),
        None if args.command.is_empty() => Err(Failure::new(
            Exit::Usage,
            "nothing to profile: give a command, as in `hakaru profile -- ruby slow.rb`",
        )),
        None => take::take(args),
    }
}

fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let found = filtered(&args.profile, &args.filter)?;
    let view = ProfileView {
        number: found.number,
        profile: &found.profile,
        counted: None,
    };
    if let Some(path) = &args.html {
        output::html::write_html(path, &report::profile::to_html(&view, language::chosen()))?;
    }
    if let Some(name) = &args.around {
        let around = report::profile::around(
            &found.profile,
            name,
            look::page_columns(),
            language::chosen(),
        );
        output::data(&around.map_err(|error| Failure::new(Exit::Usage, error))?);
    } else if args.json {
        output::data(&report::profile::json(&view));
    } else if args.html.is_none() {
        output::data(&report::profile::page(
            &view,
            look::page_columns(),
            language::chosen(),
        ));
    }
    Ok(Exit::Ok)
}

fn diff(args: &DiffArgs) -> Result<Exit, Failure> {
    let before = filtered(&args.before, &args.filter)?.profile;
    let after = filtered(&args.after, &args.filter)?.profile;
    let diff = stacks::diff(&before, &after);
    if let Some(path) = &args.html {
        let page = report::profile::difference_to_html(&before, &after, &diff, language::chosen());
        output::html::write_html(path, &page)?;
    }
    if args.json {
        output::data(&report::profile::difference_json(&before, &after, &diff));
    } else if args.html.is_none() {
        output::data(&report::profile::difference(
            (&before, &after),
            &diff,
            look::page_columns(),
            language::chosen(),
        ));
    }
    Ok(Exit::Ok)
}

fn export(args: &ExportArgs) -> Result<Exit, Failure> {
    let found = filtered(&args.profile, &args.filter)?;
    let bytes = args.format.of().write(&found.profile);
    match &args.output {
        Some(path) => std::fs::write(path, bytes).map_err(|error| {
            Failure::new(
                Exit::Failed,
                format!("cannot write {}: {error}", path.display()),
            )
        })?,
        None => output::bytes(&bytes),
    }
    Ok(Exit::Ok)
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
                    Exit::Usage,
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
