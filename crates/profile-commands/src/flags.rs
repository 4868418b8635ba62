//! The command line of `hakaru profile`, as typed.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use figures::duration::parse as parse_duration;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  hakaru profile -- ruby slow.rb                       run it, print the top, keep the profile
  hakaru profile --mode alloc -- ruby slow.rb          which lines make objects
  hakaru profile --count 'Spec.new' -- ruby slow.rb    exact calls by caller, and repeated arguments
  hakaru profile --html out.html -- ruby slow.rb       and an HTML page with the flame graph
  hakaru profile diff 1 2                              what got wider, what narrower
  hakaru profile export LAST --format speedscope       for speedscope.app; also firefox, pprof, collapsed
  hakaru profile --standby -- puma                     nothing yet; then, from another terminal:
  hakaru profile --pid 4242 --for 10s"
)]
pub struct ProfileArgs {
    #[command(subcommand)]
    pub action: Option<ProfileCommand>,

    /// What is recorded
    #[arg(long, value_enum, default_value_t = Mode::Wall)]
    pub mode: Mode,

    /// Samples a second, 100 to 10000; slows itself down to stay within 1 % of a core
    #[arg(long, value_name = "HZ", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(100..=10_000))]
    pub rate: u32,

    /// Also count each call of one method: `Class.method` or `Class#method`
    #[arg(long, value_name = "METHOD", value_parser = parse_method)]
    pub count: Option<String>,

    /// Profile a process that is already running, if it was started with --standby
    #[arg(long, value_name = "PID", conflicts_with_all = ["count", "standby", "command"])]
    pub pid: Option<u32>,

    /// How long, with --pid
    #[arg(long = "for", value_name = "TIME", requires = "pid", default_value = "10s", value_parser = parse_duration)]
    pub length: Duration,

    /// Start the command with the agent inside, doing nothing until --pid asks
    #[arg(long, requires = "command")]
    pub standby: bool,

    /// Print JSON on standard output, and nothing after it; the command's own output goes to
    /// standard error
    #[arg(long)]
    pub json: bool,

    /// Write an HTML page with the flame graph; it needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// The command
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hakaru agent ~/hakaru-agent          prints two variables for the app, and how to give them to it
  hakaru agent /opt/hakaru-agent       for an app of another user, or of a unit with ProtectHome=

Nothing else of the system is changed. `hakaru help agent` says what the agent does, and how it is taken out.")]
pub struct AgentArgs {
    /// A new folder readable by the app's user, to be deleted in the end
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,

    /// The folder in memory through which the app is read [default: one in /dev/shm]
    #[arg(long, value_name = "FOLDER")]
    pub rings: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ProfileCommand {
    /// Show a profile that was kept, or a file
    Show(ShowArgs),
    /// What got wider and what narrower between two profiles, with noise bounds
    Diff(DiffArgs),
    /// Write a profile in another tool's format
    Export(ExportArgs),
}

#[derive(Debug, Args)]
pub struct ShowArgs {
    /// LAST, a profile's number, or a file (hakaru's, stackprof's, collapsed stacks)
    #[arg(default_value = "LAST", value_name = "PROFILE")]
    pub profile: String,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub json: bool,

    /// Write an HTML page with the flame graph; it needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Who calls the methods whose name contains this, and what they call
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub around: Option<String>,

    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    /// LAST, a profile's number, or a file
    #[arg(value_name = "BEFORE")]
    pub before: String,

    /// LAST, a profile's number, or a file
    #[arg(value_name = "AFTER")]
    pub after: String,

    /// Print JSON on standard output, and nothing after it
    #[arg(long)]
    pub json: bool,

    /// Write an HTML page with the flame graph of both; it needs no network
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// LAST, a profile's number, or a file
    #[arg(default_value = "LAST", value_name = "PROFILE")]
    pub profile: String,

    /// The format
    #[arg(long, value_enum)]
    pub format: ExportFormat,

    /// Where to write it [default: standard output]
    #[arg(long, short = 'o', value_name = "FILE")]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub filter: FilterArgs,
}

#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Fold frames of gems and of Ruby's library into one
    #[arg(long)]
    pub hide_gems: bool,

    /// Of methods that call themselves keep the outermost call
    #[arg(long)]
    pub fold_recursion: bool,

    /// Only stacks with a method or file that contains this text, from there inwards
    #[arg(long, value_name = "TEXT")]
    pub focus: Option<String>,

    /// Only requests of this route, of a run or messages, such as 'GET /posts/:id'
    #[arg(long, value_name = "ROUTE")]
    pub route: Option<String>,

    /// Only the slowest twentieth of requests (of that route)
    #[arg(long)]
    pub slow: bool,

    /// Only one state, such as running, gvl_wait, gc, sql, lock
    #[arg(long, value_name = "STATE")]
    pub state: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// CPU time
    Cpu,
    /// All time of all threads: running, waiting and for what
    Wall,
    /// Objects and the memory of their slots
    Alloc,
}

impl Mode {
    pub fn name(self) -> &'static str {
        match self {
            Mode::Cpu => "cpu",
            Mode::Wall => "wall",
            Mode::Alloc => "alloc",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Speedscope,
    Firefox,
    Pprof,
    Collapsed,
}

impl ExportFormat {
    pub fn of(self) -> stacks::export::Format {
        match self {
            ExportFormat::Speedscope => stacks::export::Format::Speedscope,
            ExportFormat::Firefox => stacks::export::Format::Firefox,
            ExportFormat::Pprof => stacks::export::Format::Pprof,
            ExportFormat::Collapsed => stacks::export::Format::Collapsed,
        }
    }
}

/// The method's name becomes Ruby code, so nothing but a name may pass.
fn parse_method(text: &str) -> Result<String, String> {
    let is_constant =
        |part: &str| part.starts_with(|c: char| c.is_ascii_uppercase()) && is_name(part);
    let known = text.rsplit_once(['#', '.']).is_some_and(|(class, method)| {
        class.split("::").all(is_constant) && is_name(method.trim_end_matches(['?', '!', '=']))
    });
    if known {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "`{text}` names no method; write Class.method or Class#method"
        ))
    }
}

fn is_name(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with(|c: char| c.is_ascii_digit())
        && part.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::parse_method;

    #[test]
    fn only_names_of_methods_can_be_counted() {
        for good in ["Spec.new", "A::B#c_d?", "String#upcase!", "A.b="] {
            assert!(parse_method(good).is_ok(), "{good}");
        }
        for bad in [
            "new",
            "a.new",
            "Spec.",
            "#x",
            "Spec.new; exit",
            "Spec.`id`",
            "A:B.c",
        ] {
            assert!(parse_method(bad).is_err(), "{bad}");
        }
    }
}
