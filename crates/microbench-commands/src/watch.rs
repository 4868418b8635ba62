//! What stands on the screen while a bench is at work, and how fast the cores are meanwhile.

use capture::CoreWatch;
use microbench::bench::{Cell, Progress as Step};
use microbench::model::{Contender, Job};
use microbench::ruby::Watch;
use words::text;

use console::Progress;

/// Columns of a job's name on the line of progress.
const NAME: usize = 40;

/// A rewritten status line, and a watch of the cores.
pub(super) struct Screen<'a> {
    jobs: &'a [Job],
    contenders: &'a [Contender],
    progress: Progress,
    cores: CoreWatch,
}

impl<'a> Screen<'a> {
    pub(super) fn new(jobs: &'a [Job], contenders: &'a [Contender]) -> Screen<'a> {
        Screen {
            jobs,
            contenders,
            progress: Progress::new(),
            cores: CoreWatch::start(),
        }
    }

    fn name(&self, cell: Cell) -> String {
        let job = self.jobs[cell.job].name.lines().next().unwrap_or_default();
        figures::text::fit(
            &format!("{job}, {}", self.contenders[cell.contender].name),
            NAME,
        )
    }
}

impl Watch for Screen<'_> {
    fn show(&mut self, step: Step) {
        let line = match step {
            Step::First(cell) => text!("  first look: {name}", name = self.name(cell)),
            Step::Block(cell, number, most) => text!(
                "  block {number} of at most {most}: {name}",
                number,
                most,
                name = self.name(cell)
            ),
        };
        self.progress.show(line);
    }

    fn pace(&mut self) -> Option<f64> {
        self.cores.pace().map(|pace| pace.0 as f64)
    }
}
