//! Examples in doc comments, which cargo tests by one start of rustdoc for each package.

use std::collections::BTreeSet;
use std::path::Path;

use crate::tidy::File;

/// Returns the packages (`hakaru-stats`) with a doc comment that rustdoc might take for an example.
pub(super) fn packages(files: &[File]) -> BTreeSet<String> {
    let with_example = files.iter().filter(|file| has_example(&file.text));
    with_example
        .filter_map(|file| package_of(files, &file.path))
        .collect()
}

/// Whether a Rust text may hold an example: a fence, an indented block, or text from elsewhere.
/// Markdown has an indented block only after an empty line.
fn has_example(text: &str) -> bool {
    let mut is_after_empty = true;
    text.lines().map(str::trim_start).any(|line| {
        let comment = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let Some(comment) = comment else {
            is_after_empty = true;
            return line.contains("[doc = include_str!") || line.starts_with("/**");
        };
        let is_indented = is_after_empty && comment.starts_with("     ");
        is_after_empty = comment.trim().is_empty();
        let text = comment.trim_start();
        !is_after_empty && (is_indented || text.starts_with("```") || text.starts_with("~~~"))
    })
}

/// Returns the package with the file's library.
fn package_of(files: &[File], path: &str) -> Option<String> {
    let (folder, _) = path.split_once("/src/").filter(|_| path.ends_with(".rs"))?;
    let library = Path::new(folder).join("src/lib.rs");
    let manifest = Path::new(folder).join("Cargo.toml");
    let is = |file: &&File, wanted: &Path| Path::new(&file.path) == wanted;
    files.iter().find(|file| is(file, &library))?;
    let manifest = files.iter().find(|file| is(file, &manifest))?;
    let name = |line: &str| {
        line.strip_prefix("name = \"")?
            .strip_suffix('"')
            .map(str::to_owned)
    };
    manifest.text.lines().find_map(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_found_and_lists_are_not() {
        for example in [
            "/// Adds.\n/// ```\n/// add(1);\n/// ```\n",
            "    /// Adds.\n    ///\n    ///     add(1);\n",
            "//! ~~~\n//! add(1);\n",
            "#[doc = include_str!(\"x.md\")]\n",
        ] {
            assert!(has_example(example), "{example}");
        }
        for none in [
            "//! 1. Adds\n//!    and subtracts.\n",
            "/// Writes \"```\" around it.\n///\nfn f() {\n    let fence = \"```\";\n}\n",
        ] {
            assert!(!has_example(none), "{none}");
        }
    }

    #[test]
    fn only_packages_with_a_library_and_an_example_are_named() {
        let file = |path: &str, text: &str| File {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        let example = "/// ```\n/// f();\n/// ```\n";
        let files = [
            file("crates/a/Cargo.toml", "[package]\nname = \"hakaru-a\"\n"),
            file("crates/a/src/lib.rs", "//! A.\n"),
            file("crates/a/src/deep/b.rs", example),
            file("crates/p/Cargo.toml", "[package]\nname = \"p\"\n"),
            file("crates/p/src/main.rs", example),
            file("crates/a/tests/t.rs", example),
        ];
        assert_eq!(
            packages(&files).into_iter().collect::<Vec<_>>(),
            ["hakaru-a"]
        );
    }
}
