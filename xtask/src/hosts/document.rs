//! Notes and layers of the part `hosts` of the JSON of `hakaru run`, which is indented by two.

/// A note: the kind, and the named host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: String,
    pub(super) host: String,
}

/// A part of the mean request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Layer {
    pub(super) kind: String,
    pub(super) host: String,
    /// The second of two hosts.
    pub(super) other: String,
    pub(super) mean_s: f64,
}

/// Returns the notes; `None` where the run has no part of hosts.
pub(super) fn notes(text: &str) -> Option<Vec<Note>> {
    // By the indent: databases of hosts have notes too.
    let objects = objects(hosts(text)?, "\n    \"notes\": [")?;
    let notes = objects.iter().map(|object| Note {
        kind: field(object, "kind").unwrap_or_default(),
        // A role that is shared badly has no single host.
        host: field(object, "host").unwrap_or_default(),
    });
    Some(notes.collect())
}

/// Returns the layers of the balance.
pub(super) fn layers(text: &str) -> Option<Vec<Layer>> {
    let objects = objects(hosts(text)?, "\"layers\": [")?;
    let layers = objects.iter().map(|object| {
        Some(Layer {
            kind: field(object, "kind")?,
            host: field(object, "host")?,
            other: field(object, "other")?,
            mean_s: field(object, "mean_s")?.parse().ok()?,
        })
    });
    layers.collect()
}

fn hosts(text: &str) -> Option<&str> {
    Some(&text[text.find("\n  \"hosts\": {")?..])
}

/// The flat objects of a list.
fn objects<'a>(text: &'a str, list: &str) -> Option<Vec<&'a str>> {
    let rest = &text[text.find(list)? + list.len()..];
    let indent = rest.len() - rest.trim_start_matches(['\n', ' ']).len();
    let mut objects = Vec::new();
    let mut rest = &rest[indent..];
    while rest.starts_with('{') {
        // A note of a clock holds another object, whose end is indented further.
        let end = format!("\n{}}}", " ".repeat(indent - 1));
        let at = rest.find(&end)?;
        objects.push(&rest[..at]);
        rest = rest[at + end.len()..].trim_start_matches([',', '\n', ' ']);
    }
    Some(objects)
}

fn field(object: &str, name: &str) -> Option<String> {
    let label = format!("\"{name}\": ");
    let rest = &object[object.find(&label)? + label.len()..];
    let line = rest.lines().next()?;
    Some(line.trim_end_matches(',').trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{
  "format": "hakaru-run",
  "findings": [],
  "hosts": {
    "balance": {
      "layers": [
        {
          "host": "web",
          "kind": "outside",
          "mean_s": 0.001,
          "other": null
        },
        {
          "host": "app1",
          "kind": "between",
          "mean_s": 2e-5,
          "other": "db"
        }
      ],
      "mean_s": 0.01
    },
    "hosts": [
      {
        "database": {
          "notes": []
        }
      }
    ],
    "notes": [
      {
        "clock": {
          "offset_s": 0.3
        },
        "host": "db",
        "kind": "clock_off"
      },
      {
        "host": "web",
        "kind": "not_kept"
      }
    ]
  }
}
"#;

    #[test]
    fn notes_and_layers_are_read() {
        let note = |kind: &str, host: &str| Note {
            kind: kind.to_owned(),
            host: host.to_owned(),
        };
        assert_eq!(
            notes(TEXT),
            Some(vec![note("clock_off", "db"), note("not_kept", "web")])
        );
        let layers = layers(TEXT).expect("layers");
        assert_eq!((layers.len(), layers[0].mean_s), (2, 0.001));
        assert_eq!((layers[1].other.as_str(), layers[1].mean_s), ("db", 2e-5));
        let empty = "\n  \"hosts\": {\n    \"notes\": [],\n    \"routes\": []\n  }";
        assert_eq!(notes(empty), Some(Vec::new()));
        assert_eq!(notes("{}"), None);
    }
}
