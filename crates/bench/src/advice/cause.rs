//! Causes planted into an app, read from `cause.toml`.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// An app with planted causes, the weightiest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct App {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) title: String,
    /// Nothing was planted.
    pub(super) is_healthy: bool,
    /// `first` or `second`: written before or after the rules were changed.
    pub(super) half: String,
    /// What the fixes are for: `throughput` or `memory`.
    pub(super) metric: String,
    /// `sqlite`, `postgres`, `mariadb` or `none`.
    pub(super) database: String,
    pub(super) causes: Vec<Cause>,
}

/// A planted cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cause {
    /// Rules which find the cause.
    pub(super) rules: Vec<String>,
    /// Text in a finding of the cause: a file, a table.
    pub(super) place: String,
    /// The fix, a patch in the app's folder.
    pub(super) patch: String,
}

/// Reads all apps below a folder, by name.
pub(super) fn all(folder: &Path) -> Result<Vec<App>, Box<dyn Error>> {
    let mut apps = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let folder = entry?.path();
        let path = folder.join("cause.toml");
        if path.is_file() {
            let text = std::fs::read_to_string(&path)?;
            let app = read(&folder, &text).map_err(|why| format!("{}: {why}", path.display()))?;
            apps.push(app);
        }
    }
    apps.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(apps)
}

fn read(folder: &Path, text: &str) -> Result<App, Box<dyn Error>> {
    let file: Value = toml::from_str(text)?;
    let kind = word(&file, "kind")?;
    let causes = file["cause"].as_array().into_iter().flatten();
    let name = folder.file_name().unwrap_or_default();
    Ok(App {
        name: name.to_string_lossy().into_owned(),
        folder: folder.to_owned(),
        title: word(&file, "title")?,
        is_healthy: match kind.as_str() {
            "healthy" => true,
            "planted" => false,
            other => return Err(format!("a kind is planted or healthy, not {other:?}").into()),
        },
        half: word(&file, "half")?,
        metric: word(&file, "metric")?,
        database: word(&file, "database")?,
        causes: causes.map(cause).collect::<Result<_, _>>()?,
    })
}

fn cause(value: &Value) -> Result<Cause, Box<dyn Error>> {
    let rules = value["rules"].as_array().into_iter().flatten();
    let rules: Vec<String> = rules.filter_map(Value::as_str).map(str::to_owned).collect();
    if rules.is_empty() {
        return Err("a cause needs rules".into());
    }
    Ok(Cause {
        rules,
        place: word(value, "place")?,
        patch: word(value, "patch")?,
    })
}

fn word(value: &Value, key: &str) -> Result<String, Box<dyn Error>> {
    let word = value[key].as_str().map(str::to_owned);
    word.ok_or_else(|| format!("`{key}` is missing").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "title = 'x'\nkind = 'planted'\nhalf = 'first'\ndatabase = 'none'\nmetric = 'throughput'\n\
        [[cause]]\nrules = ['n-plus-one']\nplace = 'app.rb'\npatch = 'fix.patch'\n";

    #[test]
    fn a_file_is_read_and_what_it_lacks_is_named() {
        let app = read(Path::new("/apps/shop"), FILE).expect("an app");
        assert_eq!(
            (app.name.as_str(), app.causes[0].rules[0].as_str()),
            ("shop", "n-plus-one")
        );
        let check = |from: &str, to: &str, part: &str| {
            let error = read(Path::new("/apps/shop"), &FILE.replace(from, to)).expect_err(part);
            assert!(error.to_string().contains(part), "{error}");
        };
        check("place = 'app.rb'\n", "", "`place` is missing");
        check("'planted'", "'sick'", "planted or healthy");
        check("['n-plus-one']", "[]", "needs rules");
    }
}
