//! Output on the terminal while an app is measured.

use std::sync::{Arc, Mutex, PoisonError};

use experiment::{Context, Observer, Phase, PhaseGuard};
use recording::{Exchange, Nanos};
use words::{Text, text};

use crate::context;
use crate::exit::Failure;
use crate::output;
use console::{Progress, Ticker};
use report::live::Live;

/// Context of a run, with output of each phase.
///
/// # Errors
/// Signals cannot be watched.
pub(crate) fn of_run() -> Result<Context, Failure> {
    context(Arc::new(RunObserver::default()))
}

/// Context of a series of measurements, with output of notices only.
///
/// # Errors
/// Signals cannot be watched.
pub(crate) fn of_series() -> Result<Context, Failure> {
    context(Arc::new(SeriesObserver::default()))
}

/// Context with the same stop flag, and the observer of a series.
pub(crate) fn quiet(context: &Context) -> Context {
    Context {
        observer: Arc::new(SeriesObserver::default()),
        stop: Arc::clone(&context.stop),
    }
}

fn context(observer: Arc<dyn Observer>) -> Result<Context, Failure> {
    Ok(Context {
        observer,
        stop: context::stop_flag()?,
    })
}

/// Shows phases, and live figures while the app is loaded.
#[derive(Default)]
struct RunObserver {
    live: Mutex<Option<(Live, Progress)>>,
}

impl Observer for RunObserver {
    fn notice(&self, line: Text) {
        output::notice(line);
    }

    fn enter(&self, phase: Phase<'_>) -> PhaseGuard {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        *live = None;
        let ticking = |phase: Text| -> PhaseGuard { Box::new(Ticker::start(phase)) };
        match phase {
            Phase::Reset(command) => {
                let command = command.shown();
                output::notice(text!("resetting the data: {command}", command));
                ticking(text!("resetting the data"))
            }
            Phase::Start(command) => {
                let command = command.shown();
                output::notice(text!("starting the app: {command}", command));
                ticking(text!("starting the app"))
            }
            Phase::Load(settings) => {
                let plan = &settings.plan;
                let url = settings.endpoint.authority();
                output::notice(load_report::run::announcement(&url, plan));
                *live = Some((Live::new(plan.warmup, plan.duration), Progress::new()));
                Box::new(())
            }
            Phase::Explain => ticking(text!("asking the database for its plans")),
            Phase::AskAgain => ticking(text!("asking for pages again")),
            Phase::Stop => ticking(text!("stopping the app")),
        }
    }

    fn loaded(&self, exchanges: &[Exchange], passed: Nanos) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((live, progress)) = &mut *live
            && progress.is_live()
        {
            live.add(exchanges, passed);
            progress.show_all(&live.lines(passed));
        }
    }
}

/// Shows a status line.
struct SeriesObserver {
    progress: Mutex<Progress>,
}

impl Default for SeriesObserver {
    fn default() -> SeriesObserver {
        SeriesObserver {
            progress: Mutex::new(Progress::new()),
        }
    }
}

impl Observer for SeriesObserver {
    fn notice(&self, line: Text) {
        output::notice(line);
    }

    fn status(&self, line: Text) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.show(line);
    }

    fn clear_status(&self) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        progress.clear();
    }
}
