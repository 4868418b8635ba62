//! Origin of a frame: the app, a gem, Ruby itself, or a method in C.

use crate::profile::Frame;

/// Owner of a frame's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin<'a> {
    /// The app's.
    App,
    /// A method in C, or a frame in place of others.
    Native,
    /// Ruby's own library.
    Ruby,
    /// The gem with the given name.
    Gem(&'a str),
}

impl<'a> Origin<'a> {
    /// Returns the origin derived from the file.
    pub fn of(frame: &'a Frame) -> Origin<'a> {
        let file = frame.file.as_str();
        if file.is_empty() {
            return Origin::Native;
        }
        if let Some((_, rest)) = file.rsplit_once("/gems/") {
            return Origin::Gem(without_version(first(rest)));
        }
        if let Some((_, rest)) = file.rsplit_once("/vendor_ruby/") {
            // Distributions put gems there: a file or a folder of the gem's name.
            return Origin::Gem(first(rest).trim_end_matches(".rb"));
        }
        if crate::filter::is_library(frame) {
            return Origin::Ruby;
        }
        Origin::App
    }

    /// Name of the origin for people.
    pub fn name(self) -> &'a str {
        match self {
            Origin::App => "app",
            Origin::Native => "C",
            Origin::Ruby => "ruby",
            Origin::Gem(name) => name,
        }
    }
}

fn first(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

/// `rack` of `rack-3.1.8`; a revision, as Bundler names checkouts, is left.
fn without_version(folder: &str) -> &str {
    match folder.rsplit_once('-') {
        Some((name, version)) if version.starts_with(|first: char| first.is_ascii_digit()) => name,
        _ => folder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_tells_whose_code_it_is() {
        let check = |file: &str, name: &str| {
            let frame = Frame {
                file: file.to_owned(),
                ..Frame::default()
            };
            assert_eq!(Origin::of(&frame).name(), name, "{file}");
        };
        check("", "C");
        check("/srv/app/lib/gems.rb", "app");
        check("<internal:kernel>", "ruby");
        check("/usr/lib/ruby/3.3.0/json/common.rb", "ruby");
        check("/usr/lib/ruby/vendor_ruby/rack/builder.rb", "rack");
        check("/usr/lib/ruby/vendor_ruby/mustermann.rb", "mustermann");
        check("/b/ruby/3.3.0/gems/rack-test-2.1.0/lib/a.rb", "rack-test");
        check(
            "/usr/share/rubygems-integration/all/gems/puma-6.6.0/lib/puma/server.rb",
            "puma",
        );
        check(
            "/app/vendor/gems/chat_database/lib/chat_database.rb",
            "chat_database",
        );
    }
}
