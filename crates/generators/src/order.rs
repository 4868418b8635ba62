//! The input of a remote generator: the plan as typed, and every file named by the plan.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// Name of the format.
const FORMAT: &str = "hakaru-load-order";
/// Version of the format.
const VERSION: u32 = 1;

/// One load, as sent to each of several generators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The flags of the load, except the ones choosing who carries the load out.
    pub words: Vec<String>,
    /// What `hakaru.toml` says of the load.
    pub config: String,
    /// The folder to which paths in `config` are relative.
    pub folder: String,
    /// Every file named by the plan, keyed by the path used to open the file.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The value of `{{run}}`, which is the same for all generators.
    pub run_token: String,
}

/// Why a text is no order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OrderError {
    /// Another version of the program wrote the text.
    Version {
        /// The format's version.
        version: u32,
    },
    /// The text cannot be read.
    Content(String),
}

impl fmt::Display for OrderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderError::Version { version } => write!(
                f,
                "a load of version {version}, and this program carries out version {VERSION}; take the same program everywhere"
            ),
            OrderError::Content(what) => write!(f, "a load that cannot be read: {what}"),
        }
    }
}

impl std::error::Error for OrderError {}

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u32,
    words: Vec<String>,
    config: String,
    folder: String,
    /// In base64.
    files: BTreeMap<String, String>,
    run: String,
}

impl Order {
    /// Returns the order as text.
    pub fn to_text(&self) -> String {
        let files = self.files.iter();
        let document = Document {
            format: FORMAT.to_owned(),
            version: VERSION,
            words: self.words.clone(),
            config: self.config.clone(),
            folder: self.folder.clone(),
            files: files
                .map(|(path, bytes)| (path.clone(), STANDARD.encode(bytes)))
                .collect(),
            run: self.run_token.clone(),
        };
        serde_json::to_string(&document).expect("texts with text keys")
    }

    /// Reads a text of [`Order::to_text`].
    ///
    /// # Errors
    /// The text is no order, or one of another version.
    pub fn of_text(text: &str) -> Result<Order, OrderError> {
        #[derive(Deserialize)]
        struct Head {
            version: u32,
        }
        let content = |error: serde_json::Error| OrderError::Content(error.to_string());
        let Head { version } = serde_json::from_str(text).map_err(content)?;
        if version != VERSION {
            return Err(OrderError::Version { version });
        }
        let document: Document = serde_json::from_str(text).map_err(content)?;
        if document.format != FORMAT {
            return Err(OrderError::Content(format!(
                "its format is {:?}",
                document.format
            )));
        }
        let files = document.files.into_iter().map(|(path, text)| {
            let bytes = STANDARD.decode(text);
            let bytes = bytes.map_err(|error| OrderError::Content(format!("{path}: {error}")))?;
            Ok((path, bytes))
        });
        Ok(Order {
            words: document.words,
            config: document.config,
            folder: document.folder,
            files: files.collect::<Result<_, _>>()?,
            run_token: document.run,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_order_is_read_as_it_was_written(
            words in proptest::collection::vec(".{0,9}", 0..4),
            files in proptest::collection::btree_map("[a-z/.]{1,9}", proptest::collection::vec(any::<u8>(), 0..40), 0..4),
            config in ".{0,40}",
        ) {
            let order = Order {
                words,
                files,
                config,
                folder: "/app".to_owned(),
                run_token: "k3".to_owned(),
            };
            prop_assert_eq!(Order::of_text(&order.to_text()), Ok(order));
        }
    }

    #[test]
    fn an_order_of_another_version_is_told_apart() {
        let text = Order::default().to_text();
        let newer = text.replace("\"version\":1", "\"version\":2");
        assert_eq!(
            Order::of_text(&newer),
            Err(OrderError::Version { version: 2 })
        );
        assert!(matches!(Order::of_text("{}"), Err(OrderError::Content(_))));
        let other = text.replace(FORMAT, "other");
        assert!(matches!(
            Order::of_text(&other),
            Err(OrderError::Content(_))
        ));
    }
}
