//! `hakaru bench`: whether a Ruby, some code or a command is faster, and how sure the answer is.
//!
//! [`flags`] has the command line, `resolve` makes jobs and contenders of it; `microbench` measures
//! and decides; the rest prints, stores (`kept`, `log`), profiles and searches commits (`bisect`).

mod bisect;
mod driver;
mod drop_in;
#[expect(
    missing_docs,
    reason = "doc comments here are the help of the command line, which needs none for groups of flags"
)]
pub mod flags;
mod kept;
mod log;
mod profiles;
mod resolve;
mod show;
mod watch;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use microbench::bench::{self, Bench, Ending, How, Measured};
use microbench::doubt;
use microbench::model::{Contender, Job};
use microbench::output::{self, Form, Options, Repeat, Table};
use microbench::ruby::{Machine, Settings};
use microbench::sample::Clock;
use report::bench::BenchView;
use words::{Text, text};

use console::language;
use console::process;
use console::{html, look};
use flags::{BenchArgs, ClockArg, RepeatArg};
use resolve::{Group, Resolved, usage};
use watch::Screen;

pub use drop_in::{NAME as DROP_IN, is_called, typed};
pub use ending::{Cause, Ended, Failure};

/// Without a budget, for each contender and job.
const BUDGET: Duration = Duration::from_secs(10);
/// The first look's equal batches, unless the plan is short: enough for YJIT to settle on small
/// code.
const CURVE: Duration = Duration::from_secs(1);
/// Without a timeout: scripts of Ruby's own benchmark folder take up to a minute.
const LIMIT: Duration = Duration::from_secs(300);

/// A measured group.
struct Done {
    group: Group,
    bench: Bench,
    doubts: Vec<Text>,
    started_at_unix_ms: i64,
}

impl Done {
    /// Name of a cell: the job's, with the contender's among several.
    fn name(&self, measured: &Measured) -> String {
        let job = self.group.jobs[measured.cell.job]
            .name
            .lines()
            .next()
            .unwrap_or_default();
        match &self.group.contenders[..] {
            [_] => job.to_owned(),
            all => format!("{job}, {}", all[measured.cell.contender].name),
        }
    }

    fn view(&self) -> BenchView<'_> {
        BenchView {
            bench: &self.bench,
            jobs: &self.group.jobs,
            contenders: &self.group.contenders,
            doubts: &self.doubts,
            started_at_unix_ms: self.started_at_unix_ms,
        }
    }
}

/// Measures, prints, and says how the program ends.
///
/// # Errors
/// The command line, or a file or folder that cannot be read or written.
pub fn bench(args: &BenchArgs) -> Result<Ended, Failure> {
    let folder = tempfile::tempdir().map_err(|error| {
        Failure::new(
            Cause::Failed,
            format!("no temporary folder: {error}; set TMPDIR"),
        )
    })?;
    let mut args = match driver::declared(args, folder.path())? {
        Some(declared) => declared,
        None => args.clone(),
    };
    drop_in::fill(&mut args)?;
    bench_typed(&args)
}

fn bench_typed(args: &BenchArgs) -> Result<Ended, Failure> {
    html::check_html(args.html.as_deref(), args.json)?;
    let form = form(args)?;
    if args.show {
        return show::show(args);
    }
    if args.files == ["log"] && !std::path::Path::new("log").exists() {
        return log::log(args);
    }
    let against = kept::named(args)?;
    let Resolved { groups, recorded } = resolve::resolve(args)?;
    let stop = process::stop_flag()?;
    if let Some(range) = &args.over_time.git {
        return bisect::bisect(args, groups, range, &stop);
    }
    for table in output::tables_of_record(&recorded) {
        show_table(&table, form.unwrap_or(Form::Compare), args)?;
    }
    let mut done = Vec::new();
    for group in groups {
        say_contenders(args, &group);
        done.push(measure(args, group, Effort::default(), &stop)?);
        if process::raised(&stop) {
            break;
        }
    }
    for one in &done {
        show(args, form, one)?;
        // Who ends a bench does not wait for its profiles.
        let flames = match args.profile && !process::raised(&stop) {
            true => profiles::take(one, args)?,
            false => Vec::new(),
        };
        if let Some(path) = &args.html {
            let page = report::bench::html(&one.view(), &flames, language::chosen());
            html::write_html(path, &page)?;
        }
        kept::keep(args, &one.view())?;
        if let Some(then) = &against {
            kept::compare(then, &one.view());
        }
    }
    Ok(exit(&done, form.is_some()))
}

fn form(args: &BenchArgs) -> Result<Option<Form>, Failure> {
    let Some(name) = &args.output else {
        return Ok(None);
    };
    let known = Form::ALL.map(|(name, _)| name).join(", ");
    Form::of(name)
        .map(Some)
        .ok_or_else(|| usage(format!("no form is called `{name}`; there are {known}")))
}

/// What a bench is asked for beyond the command line.
#[derive(Clone, Copy, Debug)]
struct Effort {
    /// The equivalence bound, as a share, instead of the command line's.
    margin: Option<f64>,
    /// So many times the time.
    times: u32,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            margin: None,
            times: 1,
        }
    }
}

/// Returns the time budget for the given number of cells.
fn plan(args: &BenchArgs, cells: u32) -> Result<Duration, Failure> {
    match (args.how.budget, args.run_duration) {
        (Some(budget), _) => Ok(budget),
        (None, Some(seconds)) if seconds > 0.0 && seconds.is_finite() => {
            Ok(Duration::from_secs_f64(seconds) * cells)
        }
        (None, Some(_)) => Err(usage("--run-duration is a number of seconds above 0")),
        (None, None) => Ok(BUDGET * cells),
    }
}

fn measure(
    args: &BenchArgs,
    group: Group,
    effort: Effort,
    stop: &Arc<AtomicBool>,
) -> Result<Done, Failure> {
    let cells = (group.jobs.len() * group.contenders.len()).max(1) as u32;
    let plan = plan(args, cells)? * effort.times;
    if !(args.how.margin > 0.0 && args.how.margin < 100.0) {
        return Err(usage("--margin is a number of percent above 0"));
    }
    let how = How {
        margin: effort.margin.unwrap_or(args.how.margin / 100.0),
        ..how(args, &group, plan)
    };
    let settings = settings(args, &group, plan / cells);
    let started_at_unix_ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_millis() as i64);
    let mut screen = Screen::new(&group.jobs, &group.contenders);
    let mut machine = Machine::new(
        (&group.jobs, &group.contenders),
        settings,
        stop,
        &mut screen,
    )
    .map_err(|error| {
        Failure::new(
            Cause::Failed,
            format!("no temporary folder: {error}; set TMPDIR"),
        )
    })?;
    let bench = bench::run(&group.jobs, &group.contenders, how, &mut machine);
    for trouble in machine.clean_up() {
        console::notice(trouble);
    }
    drop(screen);
    let doubts = doubt::all(&bench, &group.jobs, &group.contenders);
    Ok(Done {
        group,
        bench,
        doubts,
        started_at_unix_ms,
    })
}

fn how(args: &BenchArgs, group: &Group, plan: Duration) -> How {
    How {
        runner: group.runner,
        plan,
        // Who says how often does not say how long.
        budget: match (args.how.budget, args.repeat_count) {
            (None, Some(_)) => Duration::MAX,
            _ => plan,
        },
        margin: args.how.margin / 100.0,
        clock: match args.how.clock {
            ClockArg::Auto => Clock::Auto,
            ClockArg::Cpu => Clock::Cpu,
            ClockArg::Wall => Clock::Wall,
        },
        seed: args.how.seed,
        compares_jobs: group.is_comparable,
        blocks_max: args.repeat_count.map(|count| count.div_ceil(2) as usize),
    }
}

fn settings(args: &BenchArgs, group: &Group, plan: Duration) -> Settings {
    Settings {
        runner: group.runner,
        has_gc: !args.how.no_gc,
        curve: CURVE.min(plan / 5),
        limit: args.timeout.unwrap_or(LIMIT),
        commands: microbench::command::Settings {
            shell: if args.commands.no_shell {
                Some(String::new())
            } else {
                args.commands.shell.clone()
            },
            warmup: args.commands.warmup,
            ignores_failure: args.commands.ignore_failure,
            shows_output: args.commands.show_output,
        },
    }
}

fn say_contenders(args: &BenchArgs, group: &Group) {
    if args.verbose == 0 {
        return;
    }
    for Contender {
        name,
        command,
        prelude,
        ..
    } in &group.contenders
    {
        console::notice(format!(
            "{name}: {}",
            microbench::shell_words::join(command)
        ));
        if args.verbose > 1 && !prelude.is_empty() {
            console::notice(prelude.clone());
        }
    }
    for Job { name, work, .. } in group.jobs.iter().filter(|_| args.verbose > 1) {
        console::notice(format!("{name}: {work:?}"));
    }
}

fn show(args: &BenchArgs, form: Option<Form>, done: &Done) -> Result<(), Failure> {
    let view = done.view();
    if let Some(form) = form {
        let repeat = match args.repeat_result {
            None => Repeat::Mean,
            Some(RepeatArg::Best) => Repeat::Best,
            Some(RepeatArg::Worst) => Repeat::Worst,
            Some(RepeatArg::Average) => Repeat::Average,
            Some(RepeatArg::Median) => Repeat::Median,
        };
        for table in output::tables(
            &done.bench,
            &done.group.jobs,
            &done.group.contenders,
            repeat,
        ) {
            show_table(&table, form, args)?;
        }
        // The form names a loser whatever chance did; what may be claimed stands beside it.
        console::notice(report::bench::page(
            &view,
            look::notice_columns().unwrap_or(figures::text::COLUMNS),
            language::chosen(),
        ));
    } else if args.json {
        console::data(&report::bench::json(&view));
    } else if !args.html.as_deref().is_some_and(html::is_stdout) {
        console::page(&report::bench::page(
            &view,
            look::page_columns(),
            language::chosen(),
        ));
    }
    export(args, &view)
}

/// Writes the files read by hyperfine's scripts.
fn export(args: &BenchArgs, view: &BenchView) -> Result<(), Failure> {
    let exports = [
        (
            &args.commands.export_json,
            report::bench::hyperfine_json as fn(&BenchView) -> String,
        ),
        (
            &args.commands.export_markdown,
            report::bench::hyperfine_markdown,
        ),
    ];
    for (path, write) in exports {
        if let Some(path) = path {
            write_file(path, &write(view))?;
        }
    }
    Ok(())
}

fn show_table(table: &Table, form: Form, args: &BenchArgs) -> Result<(), Failure> {
    let defaults = Options::default();
    let options = Options {
        humanize: args.output_humanize.unwrap_or(defaults.humanize),
        compare: args.output_compare.unwrap_or(defaults.compare),
        sort: args.output_sort.unwrap_or(defaults.sort),
    };
    let written = output::write(table, form, options);
    let Some(name) = form.file() else {
        console::data(&written);
        return Ok(());
    };
    write_file(name.as_ref(), &written)?;
    console::notice(text!("wrote {file}", file = name));
    Ok(())
}

fn write_file(path: &std::path::Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| {
        Failure::new(
            Cause::Failed,
            format!("cannot write {}: {error}", path.display()),
        )
    })
}

/// benchmark_driver's forms are read by scripts for which no claim is no failure.
fn exit(done: &[Done], is_drop_in: bool) -> Ended {
    let any = |of: fn(&Bench) -> bool| done.iter().any(|one| of(&one.bench));
    if any(|bench| bench.ending == Ending::Interrupted) {
        Ended::Interrupted
    } else if any(Bench::has_failed) {
        Ended::Failed
    } else if !is_drop_in && any(Bench::is_undecided) {
        Ended::Undecided
    } else {
        Ended::Ok
    }
}
