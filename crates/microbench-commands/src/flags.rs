//! The flags of `hakaru bench`, as typed: benchmark_driver's, hyperfine's where commands are
//! measured, and our own.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use figures::duration::parse as parse_duration;

#[derive(Clone, Debug, Default, Args)]
#[command(after_help = "\
Examples:
  hakaru bench app.yml -e 'ruby-3.3,ruby-4.0 --yjit' -e mine=./miniruby
  hakaru bench --script 'Oj.load(J)' --script 'JSON.parse(J)' --prelude 'J=File.read(\"x.json\")' --require oj,json
  hakaru bench workloads -e ruby -e 'yjit=ruby --yjit'    the bundled ones, and their geometric mean
  hakaru bench app.yml -o compare                       benchmark_driver's form, with its flags
  hakaru bench --prepare 'make clean' -- 'make -j1' 'make -j2'
  hakaru bench -L size 1,2,4 -- './run {size}'

Contenders run in fresh processes, interleaved; \"the same\" means within --margin. docs/bench.md says more.
Ended codes: 0 all decided, 1 a contender failed, 2 wrong usage, 12 undecided, 130 interrupted.")]
pub struct BenchArgs {
    /// benchmark_driver's YAML files, Ruby files (.rb), Ruby code, `workloads` (those that come
    /// with the program), or `log` (what was kept)
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,

    /// Ruby code to measure; may be repeated
    #[arg(long = "script", value_name = "CODE")]
    pub scripts: Vec<String>,

    /// With `workloads`: also optcarrot, whose folder this is
    #[arg(long, value_name = "FOLDER")]
    pub optcarrot: Option<PathBuf>,

    /// With `workloads`: draw the fluid and the console for ten seconds each, and measure nothing
    #[arg(long)]
    pub show: bool,

    /// Ruby code to run once before each script
    #[arg(long, value_name = "CODE")]
    pub prelude: Option<String>,

    /// Libraries to require before each script
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub require: Vec<String>,

    /// What to measure scripts for: ips, time, memory, once, block [default: ips]
    #[arg(long, short = 'r', value_name = "RUNNER")]
    pub runner: Option<String>,

    /// benchmark_driver's form instead of the page: compare, simple, markdown, record, all, gruff
    #[arg(long, short = 'o', value_name = "FORM")]
    pub output: Option<String>,

    /// Rubies: `path args`, `name=path args` or `name::path args`, a version; several divided by
    /// `;` or `,`
    #[arg(
        long,
        short = 'e',
        value_name = "EXECUTABLES",
        allow_hyphen_values = true
    )]
    pub executables: Vec<String>,

    /// Rubies of rbenv: `3.3.8;4.0.0 --yjit`
    #[arg(long, value_name = "VERSIONS")]
    pub rbenv: Vec<String>,

    /// Rubies of rvm
    #[arg(long, value_name = "VERSIONS")]
    pub rvm: Vec<String>,

    /// Rubies of chruby
    #[arg(long, value_name = "VERSIONS")]
    pub chruby: Vec<String>,

    /// Rubies of RubyInstaller, which are Windows': an error that says so
    #[arg(long, value_name = "VERSIONS", hide = true)]
    pub ridkuse: Vec<String>,

    /// Rubies of mise
    #[arg(long, value_name = "VERSIONS")]
    pub mise: Vec<String>,

    /// Rubies of asdf
    #[arg(long, value_name = "VERSIONS")]
    pub asdf: Vec<String>,

    /// Only jobs whose name matches; of several, all must match
    #[arg(long, value_name = "REGEXP")]
    pub filter: Vec<String>,

    /// At most so many processes for each contender and job
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat_count: Option<u32>,

    /// How repeated measurements become one figure of a form [default: the mean that claims are
    /// about]
    #[arg(long, value_enum, value_name = "HOW")]
    pub repeat_result: Option<RepeatArg>,

    /// Interleave the contenders; they always are
    #[arg(long)]
    pub alternate: bool,

    /// Load the Gemfile's gems (-rbundler/setup)
    #[arg(long)]
    pub bundler: bool,

    /// Seconds for each contender and job, in place of --budget
    #[arg(long, value_name = "SECONDS")]
    pub run_duration: Option<f64>,

    /// When a process is taken to hang
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,

    /// Say what each contender is; twice: show the programs too
    #[arg(long, short = 'v', action = clap::ArgAction::Count)]
    pub verbose: u8,

    /// Whether large numbers get k, M, G (-o simple)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub output_humanize: Option<bool>,

    /// Whether the comparison follows the table (-o markdown)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub output_compare: Option<bool>,

    /// Whether values are sorted (-o all)
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub output_sort: Option<bool>,

    #[command(flatten)]
    pub how: MeasureArgs,

    #[command(flatten)]
    pub over_time: OverTimeArgs,

    #[command(flatten)]
    pub commands: CommandArgs,

    /// Profile the two fastest contenders of each job, keep both profiles, and show what differs
    #[arg(long, conflicts_with = "json")]
    pub profile: bool,

    /// Print JSON on standard output, and nothing after it
    #[arg(long, conflicts_with = "output")]
    pub json: bool,

    /// Also write the page as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,

    /// Commands to measure instead of scripts, each as one word
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// How to measure.
#[derive(Clone, Debug, Default, Args)]
pub struct MeasureArgs {
    /// When to stop at the latest [default: 10 s for each contender and job]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub budget: Option<Duration>,

    /// Differences below this many percent are none
    #[arg(long, value_name = "PERCENT", default_value_t = 1.0)]
    pub margin: f64,

    /// The clock: cpu, wall, or the one that fits
    #[arg(long, value_enum, default_value_t = ClockArg::Auto)]
    pub clock: ClockArg,

    /// Keep the garbage collector out of what is measured
    #[arg(long)]
    pub no_gc: bool,

    /// Decides the order within blocks
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
}

/// Benches that are kept, and benches of commits.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Over time")]
pub struct OverTimeArgs {
    /// Keep the bench in this folder under a name
    #[arg(long, value_name = "NAME")]
    pub save: Option<String>,

    /// Compare with the bench that was kept under this name
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,

    /// Keep the bench with revision and machine; `hakaru bench log` shows the history
    #[arg(long)]
    pub record: bool,

    /// Which commit behind A up to B made the job slower or faster?
    #[arg(long, value_name = "A..B")]
    pub git: Option<String>,

    /// Run once in the worktree of each commit that is measured
    #[arg(long, value_name = "COMMAND", requires = "git")]
    pub build: Option<String>,
}

/// Flags for commands behind `--`.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Commands behind --")]
pub struct CommandArgs {
    /// Values for {NAME} in the commands; may be repeated
    #[arg(long, short = 'L', num_args = 2, value_names = ["NAME", "VALUE,…"])]
    pub parameter_list: Vec<String>,

    /// Numbers for {NAME} in the commands
    #[arg(long, short = 'P', num_args = 3, value_names = ["NAME", "MIN", "MAX"], allow_hyphen_values = true)]
    pub parameter_scan: Vec<String>,

    /// The step of --parameter-scan
    #[arg(long, short = 'D', value_name = "STEP", requires = "parameter_scan")]
    pub parameter_step_size: Option<f64>,

    /// A name for each command, in their order
    #[arg(long, short = 'n', value_name = "NAME")]
    pub command_name: Vec<String>,

    /// Run once before all measurements of a command
    #[arg(long, short = 's', value_name = "COMMAND")]
    pub setup: Option<String>,

    /// Run before every measurement; one for all, or one for each command
    #[arg(long, short = 'p', value_name = "COMMAND")]
    pub prepare: Vec<String>,

    /// Run behind every measurement; one for all, or one for each command
    #[arg(long, short = 'C', value_name = "COMMAND")]
    pub conclude: Vec<String>,

    /// Run once behind all measurements of a command
    #[arg(long, short = 'c', value_name = "COMMAND")]
    pub cleanup: Option<String>,

    /// The shell, whose start is taken off [default: /bin/sh where a command needs one]
    #[arg(long, short = 'S', value_name = "SHELL", conflicts_with = "no_shell")]
    pub shell: Option<String>,

    /// No shell at all
    #[arg(long, short = 'N')]
    pub no_shell: bool,

    /// Runs before the first that counts
    #[arg(long, short = 'w', value_name = "N", default_value_t = 1)]
    pub warmup: u32,

    /// Take exit codes other than 0 for success
    #[arg(long, short = 'i')]
    pub ignore_failure: bool,

    /// Show what the commands print
    #[arg(long)]
    pub show_output: bool,

    /// Write JSON that hyperfine's scripts read
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,

    /// Write a Markdown table as hyperfine's
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ClockArg {
    /// CPU time where the code computes, else wall time
    #[default]
    Auto,
    /// CPU time of all threads
    Cpu,
    /// Wall time
    Wall,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RepeatArg {
    Best,
    Worst,
    Average,
    Median,
}
