//! `hakaru help`, `hakaru completions`, `hakaru man`: what the program says of itself.

use clap::{Command, CommandFactory};

use crate::cli::{Cli, CompletionsArgs, HelpArgs, ManArgs};
use crate::exit::{Exit, Failure};
use crate::output::{self, look, markdown};

/// A page of `docs/`.
struct Topic {
    name: &'static str,
    text: &'static str,
}

macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        [$(Topic { name: $name, text: include_str!(concat!("../../../../docs/", $name, ".md")) }),*]
    };
}

const TOPICS: [Topic; 25] = topics![
    "agent",
    "bench",
    "compare",
    "config",
    "containers",
    "demo",
    "doctor",
    "exit-codes",
    "findings",
    "flows",
    "hosts",
    "hurl",
    "isucon",
    "isucon.ja",
    "json",
    "kubernetes",
    "load",
    "logs",
    "profile",
    "run",
    "schema",
    "sqldef",
    "troubleshooting",
    "trust",
    "tune",
];
/// Likeness from which a topic is suggested (Jaro and Winkler's measure).
const LIKENESS_MIN: f64 = 0.7;

/// Prints the flags of a command, the page of a topic, or both where a command has a page.
///
/// # Errors
/// [`Exit::Usage`] for a word that is neither.
pub(crate) fn help(args: &HelpArgs) -> Result<Exit, Failure> {
    let [first, ..] = args.words.as_slice() else {
        let text = Cli::command().render_long_help();
        output::data(&format!("{text}\n{}\n", topics()));
        return Ok(Exit::Ok);
    };
    let flags = flags(&args.words);
    let topic = TOPICS
        .iter()
        .find(|topic| topic.name == first && args.words.len() == 1);
    if flags.is_none() && topic.is_none() {
        return Err(Failure::new(Exit::Usage, unknown(&args.words.join(" "))));
    }
    let page = topic.map(|topic| markdown::page(topic.text, look::page_columns()));
    let texts: Vec<String> = flags.into_iter().chain(page).collect();
    output::data(&texts.join("\n"));
    Ok(Exit::Ok)
}

fn topics() -> String {
    let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
    let list = markdown::page(&names.join(", "), look::page_columns().saturating_sub(2));
    format!(
        "Topics of `hakaru help`:\n  {}",
        list.trim_end().replace('\n', "\n  ")
    )
}

/// Returns the help of the command named by the words.
fn flags(words: &[String]) -> Option<String> {
    let mut root = Cli::command();
    root.build();
    let command = words
        .iter()
        .try_fold(&root, |command, word| command.find_subcommand(word))?;
    Some(command.clone().render_long_help().to_string())
}

fn unknown(typed: &str) -> String {
    let root = Cli::command();
    let commands = root.get_subcommands().map(Command::get_name);
    let known = commands.chain(TOPICS.iter().map(|topic| topic.name));
    let nearest = scenario::nearest(typed, known, LIKENESS_MIN);
    let hint = nearest.map_or_else(
        || "`hakaru help` lists commands and topics".to_owned(),
        |name| format!("did you mean `hakaru help {name}`?"),
    );
    format!("there is no command and no topic `{typed}`; {hint}")
}

/// Prints a completion script made from the flags.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hakaru", &mut script);
    output::bytes(&script);
    Ok(Exit::Ok)
}

/// Writes a man page for the program and for each command.
///
/// # Errors
/// [`Exit::Failed`] when a file cannot be written.
pub(crate) fn man(args: &ManArgs) -> Result<Exit, Failure> {
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder))
        .map(|()| Exit::Ok)
        .map_err(|error| {
            let folder = args.folder.display();
            let why = format!(
                "cannot write man pages into {folder}: {error}; name a folder that can be written"
            );
            Failure::new(Exit::Failed, why)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages about the repository, not about the program.
    const OF_THE_REPOSITORY: [&str; 4] = ["README", "dependencies", "style", "tutorial"];

    #[test]
    fn every_page_of_docs_is_a_topic() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let entries = std::fs::read_dir(folder).expect("docs").flatten();
        let names = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".md")?.to_owned())
        });
        for name in names.filter(|name| !OF_THE_REPOSITORY.contains(&name.as_str())) {
            assert!(
                TOPICS.iter().any(|topic| topic.name == name),
                "docs/{name}.md"
            );
        }
    }

    #[test]
    fn commands_are_found_by_all_their_words() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(flags(&words("run")).is_some_and(|text| text.contains("--connections")));
        assert!(flags(&words("profile show")).is_some_and(|text| text.contains("--route")));
        assert!(flags(&words("run show")).is_none());
        assert!(unknown("confg").contains("`hakaru help config`"));
    }
}
