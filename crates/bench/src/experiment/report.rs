//! Writes results of an experiment between two marks of the report; the words around are written by
//! people.

use std::error::Error;
use std::fs;
use std::path::Path;

/// Puts the text into `docs/experiments/NAME.md` between the marks `measured`, and prints the text.
pub(crate) fn write(name: &str, measured: &str) -> Result<(), Box<dyn Error>> {
    write_between(name, "measured", measured)
}

/// Puts a text between marks of a given name, for a report with several measurements.
pub(crate) fn write_between(name: &str, mark: &str, measured: &str) -> Result<(), Box<dyn Error>> {
    println!("{measured}");
    let file = format!("../../docs/experiments/{name}.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path)?;
    let text = replaced(&text, mark, measured)
        .ok_or_else(|| format!("{} lacks the marks of {mark:?}", path.display()))?;
    Ok(fs::write(&path, text)?)
}

fn replaced(text: &str, mark: &str, measured: &str) -> Option<String> {
    let (begin, end) = (
        format!("<!-- {mark} -->"),
        format!("<!-- end of {mark} -->"),
    );
    let (before, rest) = text.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!(
        "{before}{begin}\n{}\n{end}{after}",
        measured.trim()
    ))
}

/// Returns a line on the host, as far as figures depend on the host.
pub(crate) fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    format!("{cores} cores of {model}")
}

/// Returns the first line of a program's version.
pub(crate) fn version(program: &str, argument: &str) -> String {
    let output = std::process::Command::new(program).arg(argument).output();
    let said = output.map_or(Vec::new(), |output| [output.stdout, output.stderr].concat());
    let said = String::from_utf8_lossy(&said).into_owned();
    said.lines().next().unwrap_or(program).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_the_marks_is_replaced() {
        let text = "# A\n<!-- measured -->\nold\n<!-- end of measured -->\nafter\n";
        let expected = text.replace("old", "new");
        assert_eq!(replaced(text, "measured", "new\n"), Some(expected));
        assert_eq!(replaced("# A\n", "measured", "new"), None);
    }
}
