//! `hakaru note`: a remark in the journal.

use store::{RunRef, Store};
use words::text;

use crate::cli::NoteArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::runs;

/// Adds the remark.
pub(crate) fn note(args: &NoteArgs) -> Result<Exit, Failure> {
    let wanted: RunRef = args
        .run
        .parse()
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    let store: Store = runs::open()?;
    let number = store
        .add_note(wanted, &args.text)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    output::notice(text!("noted at run {number}", number));
    Ok(Exit::Ok)
}
