//! What an experiment found goes between two marks of its report; the words around it are written by people.

use std::error::Error;
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- measured -->";
const END: &str = "<!-- end of measured -->";

/// Puts the text into `docs/experiments/NAME.md`, and prints it.
pub(crate) fn write(name: &str, measured: &str) -> Result<(), Box<dyn Error>> {
    println!("{measured}");
    let file = format!("../../docs/experiments/{name}.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let text = fs::read_to_string(&path)?;
    let text = replaced(&text, measured)
        .ok_or_else(|| format!("{} lacks the lines {BEGIN} and {END}", path.display()))?;
    Ok(fs::write(&path, text)?)
}

fn replaced(text: &str, measured: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!(
        "{before}{BEGIN}\n{}\n{END}{after}",
        measured.trim()
    ))
}

/// The host, as far as figures depend on it.
pub(crate) fn host() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("an unknown processor", |rest| {
        rest.trim_start_matches([' ', '\t', ':'])
    });
    format!("{cores} cores of {model}")
}

/// What a program says of its version, its first line.
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
        let text = format!("# A\n{BEGIN}\nold\n{END}\nafter\n");
        let expected = format!("# A\n{BEGIN}\nnew\n{END}\nafter\n");
        assert_eq!(replaced(&text, "new\n"), Some(expected));
        assert_eq!(replaced("# A\n", "new"), None);
    }
}
