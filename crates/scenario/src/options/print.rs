//! Options as text.

use std::fmt;

use super::{Given, OptionLine, Setting};
use crate::template::Style;

impl fmt::Display for OptionLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Setting::Switch(name, given) => write!(f, "{name}: {given}"),
            Setting::Text(name, text) => write!(f, "{name}: {}", text.print(Style::Value)),
            Setting::Time(name, Given::Fixed(time)) => write!(f, "{name}: {time}ms"),
            Setting::Time(name, given) | Setting::Number(name, given) => {
                write!(f, "{name}: {given}")
            }
            Setting::Count(name, Given::Fixed(None)) => write!(f, "{name}: -1"),
            Setting::Count(name, Given::Fixed(Some(most))) => write!(f, "{name}: {most}"),
            Setting::Count(name, Given::Expr(expr)) => write!(f, "{name}: {expr}"),
            Setting::Header(header) => write!(f, "header: {header}"),
            Setting::Variable(name, value) => write!(f, "variable: {name}={value}"),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Given<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Fixed(value) => value.fmt(f),
            Given::Expr(expr) => expr.fmt(f),
        }
    }
}
