//! Cause of a failed command, from the command's output: the exception's own message and the frames
//! in the app's folder.
//!
//! Ruby prints the message before a trace of dozens of lines, so the last lines of the output hold
//! neither the message nor a line of the app. Pure.

use std::path::Path;

/// Lines of a message to show; ActiveRecord and Bundler write hints after the first.
const MESSAGE_LINES_MAX: usize = 6;
/// Frames of the app to show, innermost first.
const FRAMES_MAX: usize = 4;

/// What rake, Rails, Bundler and Puma print around an exception.
const AROUND: [&str; 9] = [
    "rake aborted!",
    "bin/rails aborted!",
    "rails aborted!",
    "bundler: failed to load command",
    "Tasks: TOP =>",
    "(See full trace by running task with --trace)",
    "Exiting",
    "Caused by:",
    "! Unable to load application",
];

/// Message of an exception, and the frames of the app in which the exception arose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// Lines of the message; the class stands before or behind, as Ruby printed the line.
    pub message: Vec<String>,
    /// Frames in the app's folder, as relative paths, innermost first.
    pub frames: Vec<String>,
}

/// Returns the first exception of an output; `None` when no line belongs to a trace.
pub(crate) fn cause(lines: &[String], folder: &Path) -> Option<Cause> {
    let at = lines
        .iter()
        .position(|line| is_frame(line) || headed(line).is_some())?;
    let mut cause = Cause::default();
    let mut rest = at;
    if let Some((frame, message)) = headed(&lines[at]) {
        cause.frames.extend(of_app(frame, folder));
        cause.message.push(message.to_owned());
        rest += 1;
        let more = lines[rest..].iter().take_while(|line| !is_frame(line));
        cause
            .message
            .extend(more.filter(|line| is_telling(line)).cloned());
    } else {
        let before = &lines[..at];
        // Rake names the end of its own words; without it the paragraph above the trace is the
        // message.
        let is_start = |line: &String| line.trim().ends_with("aborted!");
        let is_gap = |line: &String| line.trim().is_empty();
        let start = before
            .iter()
            .rposition(is_start)
            .or_else(|| before.iter().rposition(is_gap));
        let message = before[start.map_or(0, |start| start + 1)..].iter();
        cause.message = message.filter(|line| is_telling(line)).cloned().collect();
    }
    let trace = lines[rest..].iter().skip_while(|line| !is_frame(line));
    let trace = trace.take_while(|line| is_frame(line));
    let of_trace = trace.filter_map(|line| of_app(line.trim().trim_start_matches("from "), folder));
    cause.frames.extend(of_trace);
    cause.frames.truncate(FRAMES_MAX);
    cause.message.truncate(MESSAGE_LINES_MAX);
    (!cause.message.is_empty()).then_some(cause)
}

/// Whether a line is a frame alone: `path:12:in 'method'`.
fn is_frame(line: &str) -> bool {
    let line = line.trim().trim_start_matches("from ");
    line.starts_with("... ") && line.ends_with(" levels...")
        || after_method(line).is_some_and(str::is_empty)
}

/// Splits the first line of an uncaught exception into frame and message: `path:12:in 'method':
/// message (Class)`.
fn headed(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end();
    let (frame, message) = match after_method(line) {
        Some(rest) => (&line[..line.len() - rest.len()], rest.strip_prefix(": ")?),
        // Outside of a method: `path:12: message (Class)`.
        None => {
            let (frame, message) = line.split_once(": ")?;
            let number = frame.rsplit_once(':').map(|(_, number)| number)?;
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            (is_number && message.ends_with(')')).then_some((frame, message))?
        }
    };
    let is_path = frame.contains(".r") || frame.starts_with('/') || frame.starts_with('<');
    is_path.then_some((frame, message))
}

/// What follows the method's quoted name; `None` when the line has no `:12:in 'method'`.
fn after_method(line: &str) -> Option<&str> {
    let (path, rest) = line.split_once(":in ")?;
    let number = path.rsplit_once(':').map(|(_, number)| number)?;
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let name = rest.strip_prefix(['`', '\''])?;
    name.split_once('\'').map(|(_, rest)| rest)
}

/// Whether a line may be part of a message.
fn is_telling(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !AROUND.iter().any(|around| line.starts_with(around))
}

/// Returns a frame relative to the app's folder; `None` for a frame outside the folder.
fn of_app(frame: &str, folder: &Path) -> Option<String> {
    let path = frame.split_once(':').map_or(frame, |(path, _)| path);
    let inside = match Path::new(path).strip_prefix(folder) {
        Ok(inside) => inside.to_str()?,
        Err(_) if path.starts_with(['/', '<']) => return None,
        Err(_) => path,
    };
    let is_foreign = ["vendor/", "node_modules/", "-e"]
        .iter()
        .any(|begins| inside.starts_with(begins));
    (!is_foreign).then(|| format!("{inside}{}", &frame[path.len()..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(output: &str, message: &[&str], frames: &[&str]) {
        let lines: Vec<String> = output.lines().map(str::to_owned).collect();
        let found = cause(&lines, Path::new("/app")).unwrap_or_default();
        assert_eq!(
            (found.message.as_slice(), found.frames.as_slice()),
            (
                message
                    .iter()
                    .map(|line| (*line).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
                frames
                    .iter()
                    .map(|line| (*line).to_owned())
                    .collect::<Vec<_>>()
                    .as_slice(),
            )
        );
    }

    #[test]
    fn an_uncaught_exception_begins_with_its_message() {
        check(
            "/app/config/initializers/stripe.rb:3:in `<main>': STRIPE_API_KEY is missing: see the vault (RuntimeError)\n\
             \tfrom /usr/lib/ruby/3.3.0/kernel.rb:38:in `require'\n\tfrom /app/config/environment.rb:5:in `<top (required)>'\n",
            &["STRIPE_API_KEY is missing: see the vault (RuntimeError)"],
            &[
                "config/initializers/stripe.rb:3:in `<main>'",
                "config/environment.rb:5:in `<top (required)>'",
            ],
        );
        check(
            "lib/shop.rb:12:in 'Shop#open': undefined method 'x' for nil (NoMethodError)\n\n    key.x\n       ^^\n\
             \tfrom app.rb:3:in '<main>'\n",
            &[
                "undefined method 'x' for nil (NoMethodError)",
                "    key.x",
                "       ^^",
            ],
            &["lib/shop.rb:12:in 'Shop#open'", "app.rb:3:in '<main>'"],
        );
        check(
            "app.rb:1: uninitialized constant Shop (NameError)\n",
            &["uninitialized constant Shop (NameError)"],
            &["app.rb:1"],
        );
    }

    #[test]
    fn rake_prints_the_message_above_the_trace() {
        check(
            "** Invoke db:prepare\n\nrake aborted!\nActiveRecord::AdapterNotSpecified: The `production` database is not configured\n\
             \n  Available database configurations are:\n\n  default\n\
             /gems/activerecord/database_configurations.rb:218:in `resolve'\n/app/config/environment.rb:5:in `<main>'\n\
             \nTasks: TOP => db:prepare\n(See full trace by running task with --trace)\n",
            &[
                "ActiveRecord::AdapterNotSpecified: The `production` database is not configured",
                "  Available database configurations are:",
                "  default",
            ],
            &["config/environment.rb:5:in `<main>'"],
        );
        check(
            "rake aborted!\nKeyError: key not found: \"DB_HOST\"\n/app/config/database.yml:4:in `fetch'\n\
             /gems/rake/task.rb:2:in `block'\n\nCaused by:\nother\n/gems/x.rb:1:in `y'\n",
            &["KeyError: key not found: \"DB_HOST\""],
            &["config/database.yml:4:in `fetch'"],
        );
    }

    #[test]
    fn puma_and_bundler_wrap_it() {
        check(
            "[1] ! Unable to load application: LoadError: cannot load such file -- shop\n\
             bundler: failed to load command: puma (/usr/bin/puma)\n\
             /app/config.ru:3:in `require_relative': cannot load such file -- /app/shop (LoadError)\n\
             \tfrom /app/config.ru:3:in `block in <main>'\n\tfrom /gems/rack/builder.rb:116:in `eval'\n",
            &["cannot load such file -- /app/shop (LoadError)"],
            &[
                "config.ru:3:in `require_relative'",
                "config.ru:3:in `block in <main>'",
            ],
        );
    }

    #[test]
    fn an_output_without_a_trace_has_no_cause() {
        let none = |output: &str| {
            let lines: Vec<String> = output.lines().map(str::to_owned).collect();
            assert_eq!(cause(&lines, Path::new("/app")), None, "{output}");
        };
        none("");
        none("Could not find gem 'mysql2' in locally installed gems.\n");
        none("panic: runtime error\n\ngoroutine 1 [running]:\nmain.main()\n");
        none("listening on tcp://127.0.0.1:3000: ready (fast)\n");
    }

    proptest! {
        #[test]
        fn any_output_is_read(lines in prop::collection::vec("\\PC{0,60}", 0..20)) {
            if let Some(found) = cause(&lines, Path::new("/app")) {
                prop_assert!(found.message.len() <= MESSAGE_LINES_MAX && found.frames.len() <= FRAMES_MAX);
            }
        }
    }
}
