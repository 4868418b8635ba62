//! Outputs of a load's result: the page or JSON, the HTML page, the series.

use std::path::Path;

use load_report::{View, rows};

use crate::context;
use crate::exit::{Exit, Failure};
use crate::output::html::{check_html, check_writable, is_stdout, write_html};
use crate::output::{self, look};
use console::language;
use figures::numbers;
use otlp::Receiver;
use words::{Text, text};

/// The requested outputs.
pub(super) struct Outputs<'a> {
    pub(super) json: bool,
    pub(super) html: Option<&'a Path>,
    pub(super) series: Option<&'a Path>,
    pub(super) prometheus: Option<&'a Path>,
    pub(super) otlp: Option<Receiver>,
}

/// Resolves `--otlp`.
pub(super) fn receiver(address: Option<&str>) -> Result<Option<Receiver>, Failure> {
    let variable = |name: &str| std::env::var(name).ok();
    let receiver = address.map(|address| Receiver::new(address, variable));
    receiver.transpose().map_err(Failure::usage)
}

impl Outputs<'_> {
    /// Refuses what could not be written when all has been measured.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check_html(self.html, self.json)?;
        let files = [self.html, self.series, self.prometheus];
        for path in files.into_iter().flatten() {
            check_writable(path)?;
        }
        Ok(())
    }
}

/// Prints the result, and writes the requested files; an unwritable one keeps no other back.
pub(super) fn show(view: &View<'_>, outputs: &Outputs<'_>) -> Result<(), Failure> {
    match outputs.json {
        true => output::data(&load_report::json::document(view, words::Language::English)),
        false if outputs.html.is_some_and(is_stdout) => {}
        false => output::page(&load_report::page::summary(
            view,
            look::page_columns(),
            language::chosen(),
        )),
    }
    let mut written: Vec<Result<(), Failure>> = Vec::new();
    let mut write =
        |path: &Path, text: &str| written.push(write_html(path, text).map_err(Failure::from));
    if let Some(path) = outputs.series {
        write(path, &rows::csv(view.rows));
    }
    if let Some(path) = outputs.prometheus {
        write(path, &load_report::prometheus::text(view));
    }
    if let Some(path) = outputs.html {
        let (json, text) = (
            load_report::json::document(view, language::chosen()),
            load_report::page::summary(view, figures::text::COLUMNS, language::chosen()),
        );
        write(path, &report::html::page(&json, &text, language::chosen()));
    }
    written.extend(outputs.otlp.as_ref().map(|to| send(view, to)));
    written.into_iter().collect()
}

/// Sends the figures when all else is written: a receiver may keep the program waiting.
fn send(view: &View<'_>, receiver: &Receiver) -> Result<(), Failure> {
    let document = otlp::document(view, &receiver.resource);
    let url = &receiver.url;
    // The load may have been ended by a Ctrl-C already: the next one ends the delivery.
    let stop = context::stop_flag()?;
    let mut wait = |time| context::pause(time, &stop);
    let sent = otlp::send(receiver, &document, &stop, &mut wait);
    let delivery = sent.map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("cannot send the figures to {url}: {error}"),
        )
    })?;
    output::notice(text!("sent the figures to {url}", url = url));
    if delivery.rejected > 0 || !delivery.message.is_empty() {
        output::notice(text!(
            "hakaru: {url} left out {count} of the figures: {message}",
            url = url,
            count = numbers::count(delivery.rejected),
            message = Text::named(&delivery.message)
        ));
    }
    Ok(())
}
