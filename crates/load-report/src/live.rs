//! The live page of a running load, redrawn each second.

use std::collections::{BTreeMap, VecDeque};

use figures::{counted, numbers};
use load::{Engine, Interval, Plan};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, LineGauge, Paragraph};
use recording::Nanos;
use words::{Language, Phrase, Text, phrase, text};

use crate::rows::Row;
use crate::{json, page};

/// Intervals on the curves; older intervals are dropped.
const SHOWN_MAX: usize = 300;
/// Rows of the list at the bottom, including the frame.
const LIST_ROWS: u16 = 6;

/// A curve: name, and value in an interval.
type Curve<'a> = (&'a str, &'a dyn Fn(&Row) -> f64);

/// State of the live page.
#[derive(Clone, Debug)]
pub struct Live {
    title: String,
    engine: Engine,
    threads: u32,
    length_s: f64,
    rows: VecDeque<Row>,
    requests: u64,
    failed: u64,
    statuses: BTreeMap<u16, u64>,
    errors: BTreeMap<&'static str, u64>,
    language: Language,
}

impl Live {
    /// A page without figures yet. `engine` is the one that carries the load.
    pub fn new(url: &str, plan: &Plan, engine: Engine, language: Language) -> Live {
        Live {
            title: page::announcement(url, plan).written_in(language),
            engine,
            threads: plan.threads,
            length_s: plan.duration.as_secs_f64(),
            rows: VecDeque::new(),
            requests: 0,
            failed: 0,
            statuses: BTreeMap::new(),
            errors: BTreeMap::new(),
            language,
        }
    }

    /// Adds an interval of the given length. Intervals of the warm-up are shown too, and are in no
    /// sum. The warm-up is shown as well; it is in no sum.
    pub fn add(&mut self, interval: &Interval, length: Nanos) {
        if self.rows.len() == SHOWN_MAX {
            self.rows.pop_front();
        }
        self.rows.push_back(Row::of(interval, length));
        if interval.number < 0 {
            return;
        }
        self.requests += interval.outcomes.all();
        self.failed += interval.outcomes.failed();
        for (status, count) in interval.statuses.sorted() {
            *self.statuses.entry(status).or_default() += count;
        }
        for (name, count) in json::errors(&interval.outcomes) {
            *self.errors.entry(name).or_default() += count;
        }
    }

    fn say(&self, text: impl Into<Text>) -> String {
        text.into().written_in(self.language)
    }

    /// Draws the page over the whole frame.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let [title, progress, now, curves, list] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(LIST_ROWS),
        ])
        .areas(frame.area());
        frame.render_widget(Line::from(self.title.as_str()).bold(), title);
        self.draw_progress(frame, progress);
        frame.render_widget(Line::from(self.now()), now);
        let [rate, latency] =
            Layout::horizontal([Constraint::Percentage(40), Constraint::Fill(1)]).areas(curves);
        self.draw_curves(
            frame,
            rate,
            phrase!("requests/s"),
            numbers::plain,
            &[("", &Row::rps)],
        );
        let at = |number: usize| move |row: &Row| row.latency_ms[number].unwrap_or(0.0);
        let (p50, p90, p99) = (at(0), at(1), at(2));
        let lines: [Curve<'_>; 3] = [("p99", &p99), ("p90", &p90), ("p50", &p50)];
        self.draw_curves(
            frame,
            latency,
            phrase!("latency from due"),
            numbers::duration_ms,
            &lines,
        );
        self.draw_lists(frame, list);
    }

    fn draw_progress(&self, frame: &mut Frame<'_>, area: Rect) {
        let passed = (self.rows.back()).map_or(0.0, |row| (row.at_s + row.length_s).max(0.0));
        let label = self.say(text!(
            "{passed} of {whole}",
            passed = numbers::duration_ms(passed * 1e3),
            whole = numbers::duration_ms(self.length_s * 1e3)
        ));
        let gauge = LineGauge::default()
            .label(label)
            .ratio((passed / self.length_s.max(1e-9)).clamp(0.0, 1.0));
        frame.render_widget(gauge, area);
    }

    /// The last stretch in words.
    fn now(&self) -> String {
        let Some(row) = self.rows.back() else {
            return self.say(phrase!("nothing was measured yet"));
        };
        let time = |number: usize| numbers::duration_ms_or_unknown(row.latency_ms[number]);
        let warmup = match row.at_s < 0.0 {
            true => self.say(phrase!("warm-up")) + "   ",
            false => String::new(),
        };
        self.say(text!(
            "{warmup}{rate} requests/s   p50 {p50}   p90 {p90}   p99 {p99}   max {max}   {flight} under way",
            warmup,
            rate = numbers::plain(row.rps()),
            p50 = time(0),
            p90 = time(1),
            p99 = time(2),
            max = time(3),
            flight = numbers::count(row.in_flight)
        ))
    }

    fn draw_curves(
        &self,
        frame: &mut Frame<'_>,
        area: Rect,
        title: Phrase,
        show: fn(f64) -> String,
        lines: &[Curve<'_>],
    ) {
        let points: Vec<Vec<(f64, f64)>> = (lines.iter())
            .map(|(_, value)| self.rows.iter().map(|row| (row.at_s, value(row))).collect())
            .collect();
        let top = (points.iter().flatten()).fold(0.0_f64, |top, (_, value)| top.max(*value)) * 1.1;
        let first = self.rows.front().map_or(0.0, |row| row.at_s);
        let last = self
            .rows
            .back()
            .map_or(1.0, |row| row.at_s)
            .max(first + 1.0);
        let styles = [
            Style::new().red(),
            Style::new().yellow(),
            Style::new().green(),
        ];
        let sets = (lines.iter().zip(&points).enumerate()).map(|(number, ((name, _), points))| {
            Dataset::default()
                .name(*name)
                .marker(Marker::Braille)
                .graph_type(GraphType::Line)
                .style(styles[(number + 3 - lines.len()) % styles.len()])
                .data(points)
        });
        let seconds = |at: f64| format!("{at:.0} s");
        let chart = Chart::new(sets.collect())
            .block(Block::bordered().title(self.say(title)))
            .x_axis(
                Axis::default()
                    .bounds([first, last])
                    .labels([seconds(first), seconds(last)]),
            )
            .y_axis(
                Axis::default()
                    .bounds([0.0, top.max(1e-9)])
                    .labels(["0".to_owned(), show(top)]),
            );
        frame.render_widget(chart, area);
    }

    fn draw_lists(&self, frame: &mut Frame<'_>, area: Rect) {
        let [statuses, errors, generator] = Layout::horizontal([
            Constraint::Percentage(25),
            Constraint::Percentage(35),
            Constraint::Fill(1),
        ])
        .areas(area);
        let counts =
            |name: String, count: u64| Line::from(format!("{name}  {}", numbers::count(count)));
        let list: Vec<Line<'_>> = (self.statuses.iter())
            .map(|(status, count)| counts(status.to_string(), *count))
            .collect();
        frame.render_widget(
            framed(&self.say(phrase!("answers by status")), list),
            statuses,
        );
        let list: Vec<Line<'_>> = (self.errors.iter())
            .map(|(name, count)| counts(self.say(Text::named(name)), *count))
            .collect();
        let title = self.say(text!(
            "{failed} of {requests} failed",
            failed = numbers::count(self.failed),
            requests = numbers::count(self.requests)
        ));
        frame.render_widget(framed(&title, list), errors);
        frame.render_widget(
            framed(&self.say(phrase!("generator")), self.generator()),
            generator,
        );
    }

    fn generator(&self) -> Vec<Line<'_>> {
        let Some(row) = self.rows.back() else {
            return Vec::new();
        };
        let share = row.generator_cores / f64::from(self.threads.max(1));
        let busy = text!(
            "{engine}, {share} of {threads} busy",
            engine = self.engine.to_string(),
            share = numbers::share(share),
            threads = counted!(u64::from(self.threads), "thread")
        );
        let late = numbers::duration_ms_or_unknown(row.lateness_ms_p99);
        let mut lines = vec![
            Line::from(self.say(busy)),
            Line::from(self.say(text!("sent late by {late} at p99", late))),
        ];
        if share > crate::doubts::SHARE_BUSY {
            let doubt = self.say(phrase!("too busy: its own limit may show"));
            lines.push(Line::from(doubt).red());
        }
        lines
    }
}

fn framed<'a>(title: &str, lines: Vec<Line<'a>>) -> Paragraph<'a> {
    Paragraph::new(lines).block(Block::bordered().title(title.to_owned()))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use load::{Outcomes, Plan, Statuses};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use recording::Outcome;

    use super::*;

    /// An interval with responses, each a status and a latency in milliseconds.
    fn interval(number: i64, answers: &[(u16, u64)]) -> Interval {
        let (mut outcomes, mut statuses) = (Outcomes::default(), Statuses::default());
        let mut latency = Histogram::new_with_max(1_000_000_000, 3).expect("a size");
        for (status, ms) in answers {
            let good = [Outcome::ServerError, Outcome::Ok][usize::from(*status < 500)];
            outcomes.add(good);
            statuses.add(*status);
            latency.record(ms * 1_000_000).expect("below the greatest");
        }
        Interval {
            number,
            lateness: latency.clone(),
            latency,
            outcomes,
            statuses,
            body_bytes: 0,
            cpu: Nanos(250_000_000),
            in_flight: 7,
        }
    }

    fn text(live: &Live, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("no device");
        terminal.draw(|frame| live.draw(frame)).expect("no device");
        let buffer = terminal.backend().buffer();
        let cells = buffer.content().iter().map(|cell| cell.symbol());
        let cells: Vec<&str> = cells.collect();
        let rows = cells.chunks(width.into()).map(|row| row.concat());
        rows.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn an_empty_page_says_so() {
        let live = Live::new(
            "http://x/",
            &Plan::default(),
            Engine::Epoll,
            Language::English,
        );
        let text = text(&live, 100, 24);
        assert!(
            text.starts_with("http://x/: 10 connections, closed loop, for 10.0 s"),
            "{text}"
        );
        assert!(text.contains("nothing was measured yet"), "{text}");
    }

    #[test]
    fn figures_of_a_load_are_on_the_page() {
        let mut live = Live::new(
            "http://x/",
            &Plan::default(),
            Engine::IoUring,
            Language::English,
        );
        let second = Nanos(1_000_000_000);
        live.add(&interval(-1, &[(200, 5)]), second);
        assert!(text(&live, 100, 24).contains("warm-up"));
        let mut answers = vec![(200, 2); 300];
        answers.push((500, 40));
        for number in 0..3 {
            live.add(&interval(number, &answers), second);
        }
        let text = text(&live, 100, 24);
        for part in [
            "3.00 s of 10.0 s",
            "301 requests/s   p50 2.00 ms",
            "max 40.0 ms",
            "latency from due",
            "200  900",
            "500  3",
            "server error  3",
            "3 of 903 failed",
            "io_uring, 25% of 1 thread busy",
        ] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
    }

    #[test]
    fn a_page_fits_any_terminal() {
        let mut live = Live::new(
            "http://x/",
            &Plan::default(),
            Engine::Epoll,
            Language::English,
        );
        live.add(&interval(0, &[(200, 1)]), Nanos(1_000_000_000));
        for (width, height) in [(1, 1), (10, 3), (40, 12), (300, 80)] {
            text(&live, width, height);
        }
    }
}
