//! Names of the two variants of a comparison, from what makes them differ.

use secrets::is_secret;

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
    let command = |app: &str| app.split(' ').map(shown).collect::<Vec<String>>().join(" ");
    if is_noise {
        let [a, _] = asked;
        return [command(&a.app), "the same again".to_owned()];
    }
    asked.map(|variant| {
        let mut words: Vec<String> = variant.revision.into_iter().collect();
        words.extend(variant.variables.iter().map(|pair| shown(pair)));
        words.extend(variant.files.iter().map(|file| format!("with {file}")));
        if do_apps_differ {
            words.push(command(&variant.app));
        }
        match words.is_empty() {
            true => "as it is".to_owned(),
            false => words.join(" "),
        }
    })
}

/// Returns a variable, or a word of a command, without a secret: names stand on pages, in JSON and
/// in the journal.
fn shown(variable: &str) -> String {
    let Some((name, value)) = variable.split_once('=') else {
        return variable.to_owned();
    };
    match is_secret(name) {
        true => format!("{name}=…"),
        false => format!("{name}={}", without_password(value)),
    }
}

/// Returns an address without the password in front of the host and among the settings; any other
/// text unchanged.
fn without_password(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else {
        return value.to_owned();
    };
    let (rest, settings) = rest.split_once('?').unwrap_or((rest, ""));
    let rest = match rest.rsplit_once('@') {
        Some((login, host)) if login.contains(':') => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{user}:…@{host}")
        }
        _ => rest.to_owned(),
    };
    let settings: Vec<String> = (settings.split('&'))
        .filter(|pair| !pair.is_empty())
        .map(|pair| match pair.split_once('=') {
            Some((name, _)) if is_secret(name) => format!("{name}=…"),
            _ => pair.to_owned(),
        })
        .collect();
    match settings.is_empty() {
        true => format!("{scheme}://{rest}"),
        false => format!("{scheme}://{rest}?{}", settings.join("&")),
    }
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
    fn a_name_has_no_secret() {
        let check = |variable: &str, expected: &str| {
            let b = asked("puma", None, &[variable], &[]);
            let [_, name] = names([asked("puma", None, &[], &[]), b], false);
            assert_eq!(name, expected);
        };
        check("RUBYOPT=--yjit", "RUBYOPT=--yjit");
        check("SECRET_KEY_BASE=abc", "SECRET_KEY_BASE=…");
        check("API_TOKEN=abc", "API_TOKEN=…");
        check("SMTP_PASS=abc", "SMTP_PASS=…");
        check("BYPASS_CACHE=1", "BYPASS_CACHE=1");
        check(
            "DATABASE_URL=mysql2://app:abc/@d@127.0.0.1:3306/shop?pool=5",
            "DATABASE_URL=mysql2://app:…@127.0.0.1:3306/shop?pool=5",
        );
        check("REDIS_URL=redis://:abc@h/1", "REDIS_URL=redis://:…@h/1");
        check(
            "DATABASE_URL=postgres:///shop?user=app&password=abc",
            "DATABASE_URL=postgres:///shop?user=app&password=…",
        );
        check("ROOT_URL=http://h:80/a?b", "ROOT_URL=http://h:80/a?b");
        let commands = ["puma -t 1:1", "API_KEY=abc  puma --url=redis://:abc@h"];
        let [a, b] = names(commands.map(|app| asked(app, None, &[], &[])), false);
        assert_eq!(a, "puma -t 1:1");
        assert_eq!(b, "API_KEY=…  puma --url=redis://:…@h");
    }

    #[test]
    fn noise_is_the_same_twice() {
        let plain = || asked("puma", None, &[], &[]);
        assert_eq!(names([plain(), plain()], true), ["puma", "the same again"]);
    }
}
