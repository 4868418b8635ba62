//! From a [`FlowText`] back to text, in one layout.

use std::fmt;

use crate::answer::version;
use crate::ast::{Entry, FlowText, KeyValue, Part, Response};
use crate::template::{Style, Template};

impl fmt::Display for FlowText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, entry) in self.entries.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            entry.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.method, self.url.print(Style::Url))?;
        lines(f, &self.headers)?;
        section(f, "Options", &self.options.lines)?;
        section(f, "BasicAuth", self.basic_auth.as_slice())?;
        section(f, "Query", &self.query)?;
        section(f, "Form", &self.form)?;
        section(f, "Multipart", &self.multipart)?;
        section(f, "Cookies", &self.cookies)?;
        if let Some(body) = &self.body {
            writeln!(f, "{body}")?;
        }
        match &self.response {
            Some(response) => response.fmt(f),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HTTP")?;
        if let Some(minor) = self.minor_version {
            write!(f, "/{}", version(minor))?;
        }
        match self.status {
            Some(status) => writeln!(f, " {status}")?,
            None => writeln!(f, " *")?,
        }
        lines(f, &self.headers)?;
        let captures: Vec<String> = self
            .captures
            .iter()
            .map(|capture| {
                let filters = joined(&capture.filters);
                let redact = if capture.redact { " redact" } else { "" };
                format!("{}: {}{filters}{redact}", capture.name, capture.query)
            })
            .collect();
        section(f, "Captures", &captures)?;
        let asserts: Vec<String> = self
            .asserts
            .iter()
            .map(|assert| {
                let filters = joined(&assert.filters);
                format!("{}{filters} {}", assert.query, assert.predicate)
            })
            .collect();
        section(f, "Asserts", &asserts)?;
        match &self.body {
            Some(body) => writeln!(f, "{body}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for KeyValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.value.print(Style::Value);
        write!(f, "{}: {value}", self.key.print(Style::Key))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Text(pair) => pair.fmt(f),
            Part::File {
                key,
                file,
                content_type,
                ..
            } => {
                let file = Template::text(file).print(Style::FileName);
                write!(f, "{}: file,{file};", key.print(Style::Key))?;
                match content_type {
                    Some(content_type) => write!(f, " {content_type}"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn joined(filters: &[crate::filter::Filter]) -> String {
    filters.iter().map(|filter| format!(" {filter}")).collect()
}

fn section(f: &mut fmt::Formatter<'_>, name: &str, items: &[impl fmt::Display]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(f, "[{name}]")?;
    lines(f, items)
}

fn lines(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display]) -> fmt::Result {
    for item in items {
        // An empty value leaves a space at the end of its line.
        writeln!(f, "{}", item.to_string().trim_end())?;
    }
    Ok(())
}
