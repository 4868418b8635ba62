//! The change between the app as is and variant B.

use std::path::PathBuf;

use findings::{Exact, Remedy};
use schema_db::scratch::Index;
use words::{Text, text};

/// A change with a possible trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The exact change named by the remedy.
    Remedy(Exact),
    /// A patch.
    Patch(PathBuf),
}

impl Change {
    /// Returns the change of a remedy; `None` when the remedy is not a setting.
    pub(super) fn of(remedy: &Remedy) -> Option<Change> {
        let exact = remedy.exact.clone().filter(Exact::can_be_tried)?;
        Some(Change::Remedy(exact))
    }

    /// Returns the change in the form of the command line.
    pub(super) fn text(&self) -> Text {
        match self {
            Change::Remedy(exact) => exact.to_string().into(),
            Change::Patch(path) => text!("the patch {path}", path = path.display().to_string()),
        }
    }

    /// Returns the change's name for the head of a column.
    pub(super) fn name(&self) -> String {
        match self {
            Change::Remedy(Exact::Index(sql)) => Index::of_statement(sql)
                .map_or_else(String::new, |index| format!("with {}", index.name)),
            Change::Patch(path) => {
                let name = path.file_name().unwrap_or_default();
                format!("with {}", name.to_string_lossy())
            }
            Change::Remedy(exact) => format!("with {exact}"),
        }
    }

    /// Returns how to make the change for good.
    pub(super) fn by_hand(&self) -> Text {
        let exact = match self {
            Change::Remedy(exact) => exact,
            Change::Patch(path) => {
                return text!(
                    "tried on a copy; to keep it, `git apply {path}`",
                    path = path.display().to_string()
                );
            }
        };
        let change = exact.to_string();
        match exact {
            Exact::Puma(_) => text!(
                "nothing was changed; to keep it, start Puma with {flags}",
                flags = change
            ),
            Exact::Variables(_) => text!(
                "nothing was changed; to keep it, set {pair} in the app's environment",
                pair = change
            ),
            Exact::Ulimit(_) => text!(
                "nothing was changed; to keep it, run `{line}` where the app is started",
                line = change
            ),
            Exact::PostgresSetting { .. } => text!(
                "tried in the app's own sessions; nothing was changed; to keep it, `{statement}` on the server",
                statement = change
            ),
            Exact::Index(_) | Exact::Text(_) => Text::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use findings::Safety;

    use super::*;

    #[test]
    fn what_can_be_set_is_told_from_what_needs_code() {
        let check = |exact: Option<Exact>, can_be_tried: bool| {
            let remedy = Remedy {
                text: Text::default(),
                exact: exact.clone(),
                safety: Safety::Careful,
            };
            let expected = exact.filter(|_| can_be_tried).map(Change::Remedy);
            assert_eq!(Change::of(&remedy), expected);
        };
        check(Some(Exact::threads(3)), true);
        check(Some(Exact::variables([("RACK_ENV", "production")])), true);
        check(Some(Exact::Ulimit("-n 65536".to_owned())), true);
        check(Some("SELECT * FROM a WHERE b IN (?)".into()), false);
        check(None, false);
        let index = Change::Remedy(Exact::Index("CREATE INDEX a ON b (c)".to_owned()));
        assert_eq!(index.name(), "with a");
        let flags = Change::Remedy(Exact::threads(3));
        assert_eq!(flags.name(), "with -t 3:3");
        let by_hand = "nothing was changed; to keep it, start Puma with -t 3:3";
        assert_eq!(flags.by_hand().to_string(), by_hand);
    }
}
