//! A text for people: a sentence in English with arguments, written out in the language of the
//! reader.
//!
//! Rules and pages make a [`Text`] with [`text!`] and keep it as it is. Only the edge that prints
//! it chooses a [`Language`], so nothing has to be parsed back, and JSON stays English. The
//! Japanese sentences stand in [`japanese`], by their English ones; a test reads the sources and
//! fails where one is missing.

pub mod japanese;
mod language;
mod text;

pub use language::Language;
pub use text::{Argument, Phrase, Text};

/// Makes a [`Text`] of a template and named arguments: `text!("{count} of {all} requests", count,
/// all = total)`.
///
/// The compiler refuses an argument that the template does not name, and a name without an
/// argument.
#[macro_export]
macro_rules! text {
    ($template:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        const _: fn() = || {
            let _ = ::core::format_args!($template $(, $name = "")*);
        };
        $crate::Text::of($template, ::std::vec![$((
            ::core::stringify!($name),
            $crate::text_argument!($name $(= $value)?),
        )),*])
    }};
}

/// One argument of [`text!`]: a name used as the value, or a name with a value.
#[doc(hidden)]
#[macro_export]
macro_rules! text_argument {
    ($name:ident) => {
        $crate::Argument::as_text(&$name)
    };
    ($name:ident = $value:expr) => {
        $crate::Argument::as_text(&$value)
    };
}

/// Makes a [`Phrase`]: a text without arguments, fit for a table.
#[macro_export]
macro_rules! phrase {
    ($english:literal) => {
        $crate::Phrase::new($english)
    };
}

/// Makes a [`Text`] of a written count and a noun: `1 error`, `2,400 errors`. The plural takes an
/// `s`.
#[macro_export]
macro_rules! counted {
    ($count:expr, $written:expr, $noun:literal) => {{
        let template = match $count {
            1 => ::core::concat!("{count} ", $noun),
            _ => ::core::concat!("{count} ", $noun, "s"),
        };
        $crate::Text::of(
            template,
            ::std::vec![("count", $crate::Argument::as_text(&$written))],
        )
    }};
}
