//! Names of the two variants of a comparison, from what makes them differ.

/// What was asked of one variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The command line, or the address of an app that already runs.
    pub app: String,
    /// The revision, such as `git:main`.
    pub revision: Option<String>,
    /// Variables, as `NAME=VALUE`.
    pub variables: Vec<String>,
    /// Names of files with changes: a patch, a schema.
    pub files: Vec<String>,
}

/// Returns the shortest distinct names of both variants.
pub fn names(asked: [Asked; 2], is_noise: bool) -> [String; 2] {
    let do_apps_differ = asked[0].app != asked[1].app;
    if is_noise {
        let [a, _] = asked;
        return [a.app, "the same again".to_owned()];
    }
    asked.map(|variant| {
        let mut words: Vec<String> = variant.revision.into_iter().collect();
        words.extend(variant.variables);
        words.extend(variant.files.iter().map(|file| format!("with {file}")));
        if do_apps_differ {
            words.push(variant.app);
        }
        match words.is_empty() {
            true => "as it is".to_owned(),
            false => words.join(" "),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(app: &str, revision: Option<&str>, variables: &[&str], files: &[&str]) -> Asked {
        let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        Asked {
            app: app.to_owned(),
            revision: revision.map(str::to_owned),
            variables: owned(variables),
            files: owned(files),
        }
    }

    #[test]
    fn a_name_has_what_differs() {
        let check = |a: Asked, b: Asked, expected: [&str; 2]| {
            assert_eq!(names([a, b], false), expected);
        };
        let plain = || asked("puma", None, &[], &[]);
        check(
            plain(),
            asked("puma -t 3", None, &[], &[]),
            ["puma", "puma -t 3"],
        );
        let patched = asked("puma", None, &["A=1"], &["fix.diff", "new.sql"]);
        check(
            plain(),
            patched,
            ["as it is", "A=1 with fix.diff with new.sql"],
        );
        let main = asked("puma", Some("git:main"), &[], &[]);
        check(main, plain(), ["git:main", "as it is"]);
    }

    #[test]
    fn noise_is_the_same_twice() {
        let plain = || asked("puma", None, &[], &[]);
        assert_eq!(names([plain(), plain()], true), ["puma", "the same again"]);
    }
}
