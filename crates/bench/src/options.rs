//! `--name value` of a benchmark.

use std::error::Error;

/// Returns the value of `--name`; the default without the option.
pub(crate) fn value<T: std::str::FromStr>(
    arguments: &[String],
    name: &str,
    default: T,
) -> Result<T, Box<dyn Error>> {
    let Some(at) = arguments
        .iter()
        .position(|word| word.strip_prefix("--") == Some(name))
    else {
        return Ok(default);
    };
    let text = arguments
        .get(at + 1)
        .ok_or_else(|| format!("--{name} needs a value"))?;
    text.parse()
        .map_err(|_| format!("--{name} cannot be {text:?}").into())
}

/// The comma-separated values of `--name`.
pub(crate) fn list<T: std::str::FromStr>(
    arguments: &[String],
    name: &str,
    default: &str,
) -> Result<Vec<T>, Box<dyn Error>> {
    let text = value(arguments, name, default.to_owned())?;
    text.split(',')
        .map(|part| {
            part.parse()
                .map_err(|_| format!("--{name} cannot be {text:?}").into())
        })
        .collect()
}
