//! The texts of a place in the SQL of a server: files of Rails and Ridgepole are converted to SQL.

use std::path::Path;

use rails_schema::Said;
use schema::{Server, Source, SyntaxError};
use schema_db::source;

use super::place::Place;
use ending::{Cause, Failure};

/// SQL texts, and the objects covered by files of Rails among the texts.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) sources: Vec<Source>,
    /// `None` where there is none.
    pub(super) said: Option<Said>,
}

/// Reads the texts of a place; nothing for a server.
pub(super) fn of(place: &Place, server: &Server) -> Result<Texts, Failure> {
    let mut texts = Texts::default();
    for source in place.texts()? {
        if !rails_schema::is_ruby(&source) {
            texts.sources.push(source);
            continue;
        }
        let mut require = |from: &Source, name: &str| required(place, from, name);
        let converted = rails_schema::convert(&source, server, &mut require);
        let converted = converted.map_err(|error| wrong(&error))?;
        texts.sources.extend(converted.sources);
        texts.said = Some(converted.said);
    }
    Ok(texts)
}

fn wrong(error: &SyntaxError) -> Failure {
    Failure::new(Cause::Failed, error)
}

/// The file required by another one beside, with or without `.rb`.
fn required(place: &Place, from: &Source, name: &str) -> Result<Source, String> {
    let Place::Path(_) = place else {
        return Err(format!(
            "{name} can be required from a file only; name the file"
        ));
    };
    let folder = Path::new(&from.name).parent().unwrap_or(Path::new(""));
    let path = folder.join(name);
    let found = match path.exists() {
        true => path,
        false => folder.join(format!("{name}.rb")),
    };
    source::file(&found).map_err(|error| error.to_string())
}
