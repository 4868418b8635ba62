//! Runtime settings raced by `--knobs` on the best cell: variables of the app's environment.

use std::process::{Command, Stdio};

use app_process::Spec;

use crate::jemalloc;
use crate::settings::set_variable;

/// Limits on malloc'ed memory before a collection, for apps with collections caused by malloc. Four
/// times Ruby's own limits, and none for old objects, as Shopify's autotuner has it.
const GC_MALLOC: &str = "RUBY_GC_MALLOC_LIMIT=67108864 RUBY_GC_MALLOC_LIMIT_MAX=134217728 \
    RUBY_GC_OLDMALLOC_LIMIT=1000000000000 RUBY_GC_OLDMALLOC_LIMIT_MAX=1000000000000";

/// Returns the settings to try with the app, each as `NAME=VALUE` once or several times.
pub(crate) fn settings(spec: &Spec) -> Vec<String> {
    let library = jemalloc::installed();
    let mut all = vec!["MALLOC_ARENA_MAX=2".to_owned()];
    all.extend(library.map(|path| format!("{}={}", jemalloc::VARIABLE, path.display())));
    all.push(GC_MALLOC.to_owned());
    all.extend(has_yjit(spec).then(|| "RUBYOPT=--yjit".to_owned()));
    let is_set = |setting: &String| {
        pairs(setting).any(|(name, _)| value(spec, name).is_some() && name != "RUBYOPT")
    };
    all.retain(|setting| !is_set(setting));
    all
}

/// Returns the app's spec with a setting; old contents of `RUBYOPT` stay.
pub(crate) fn with(spec: &Spec, setting: &str) -> Spec {
    let mut spec = spec.clone();
    for (name, new) in pairs(setting) {
        let new = match value(&spec, name).filter(|_| name == "RUBYOPT") {
            Some(old) => format!("{old} {new}"),
            None => new.to_owned(),
        };
        set_variable(&mut spec.env, name, &new);
    }
    spec
}

fn pairs(setting: &str) -> impl Iterator<Item = (&str, &str)> {
    setting
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='))
}

/// Returns the value of a variable in the app's environment.
fn value(spec: &Spec, name: &str) -> Option<String> {
    let own = spec.env.iter().find(|(known, _)| known == name);
    own.map(|(_, value)| value.clone())
        .or_else(|| std::env::var(name).ok())
}

/// Returns whether the Ruby started in the app's folder has YJIT, not enabled yet. A Ruby built
/// without YJIT only warns.
fn has_yjit(spec: &Spec) -> bool {
    if value(spec, "RUBYOPT").is_some_and(|options| options.contains("jit")) {
        return false;
    }
    let mut ruby = Command::new("ruby");
    ruby.args(["--yjit", "-e", "exit RubyVM::YJIT.enabled?"])
        .current_dir(&spec.directory)
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    ruby.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use app_process::{CommandLine, Endpoint};

    use super::*;

    fn spec(env: &[(&str, &str)]) -> Spec {
        let url = Endpoint::parse("http://127.0.0.1:9292").expect("an address");
        let mut spec = Spec::new(CommandLine::Shell("puma".to_owned()), url);
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        spec.env = env.iter().map(own).collect();
        spec
    }

    #[test]
    fn what_the_app_sets_itself_is_left_alone() {
        let tried = settings(&spec(&[("MALLOC_ARENA_MAX", "4")]));
        assert!(
            !tried.iter().any(|setting| setting.contains("ARENA")),
            "{tried:?}"
        );
        assert!(tried.contains(&GC_MALLOC.to_owned()));
    }

    #[test]
    fn a_setting_becomes_variables_and_rubyopt_grows() {
        let told = |env, setting: &str| with(&spec(env), setting).env;
        let owned = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(told(&[], "A=1 B=2"), [owned("A", "1"), owned("B", "2")]);
        assert_eq!(
            told(&[("RUBYOPT", "-W0")], "RUBYOPT=--yjit"),
            [owned("RUBYOPT", "-W0 --yjit")]
        );
    }
}
