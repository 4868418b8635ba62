//! The kernel's command line, reduced to the parameters of checks. The others may hold the password
//! of an installer, of iSCSI or of a network, and diagnoses are passed on.

use crate::snapshot::Snapshot;

/// Mitigation of speculative store bypass.
pub(crate) const STORE_BYPASS: &str = "spec_store_bypass_disable";
/// Mitigation of indirect branches of user programs.
pub(crate) const SPECTRE_V2_USER: &str = "spectre_v2_user";

/// Parameters with words of the kernel as values.
const KNOWN: [&str; 2] = [STORE_BYPASS, SPECTRE_V2_USER];
/// Around the number of the other parameters.
const HIDDEN: (&str, &str) = ("[", "-redacted]");
/// Letters of the longest value of a known parameter, with room for more.
const VALUE_MAX: usize = 32;

impl Snapshot {
    /// Returns a stored snapshot without the secrets kept by older versions.
    pub(crate) fn redacted(mut self) -> Snapshot {
        let boot = self.machine.boot.as_deref();
        self.machine.boot = boot.map(known_parameters);
        self
    }
}

/// Returns the known parameters of a command line, and how many others there are.
pub fn known_parameters(line: &str) -> String {
    let mut shown: Vec<&str> = Vec::new();
    let mut hidden = 0_u32;
    for word in line.split_whitespace() {
        match hidden_before(word) {
            None if is_known(word) => shown.push(word),
            before => hidden = hidden.saturating_add(before.unwrap_or(1)),
        }
    }
    let rest = match hidden {
        0 => String::new(),
        hidden => format!("{}{hidden}{}", HIDDEN.0, HIDDEN.1),
    };
    shown.push(&rest);
    shown.join(" ").trim_end().to_owned()
}

/// Reads the number of parameters left out of a line already.
fn hidden_before(word: &str) -> Option<u32> {
    let count = word.strip_prefix(HIDDEN.0)?.strip_suffix(HIDDEN.1)?;
    count.parse().ok()
}

fn is_known(word: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ",-_".contains(letter);
    word.split_once('=').is_some_and(|(name, value)| {
        KNOWN.contains(&name) && value.len() <= VALUE_MAX && value.chars().all(is_plain)
    })
}

/// Returns the value of a parameter.
pub(crate) fn value(line: &str, name: &str) -> Option<String> {
    let mut values =
        (line.split_whitespace()).filter_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    values.next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_no_check_looks_at_are_counted_and_not_shown() {
        let check = |line: &str, expected: &str| {
            let shown = known_parameters(line);
            assert_eq!(shown, expected);
            // What is left out once is counted on when a stored line is read.
            assert_eq!(known_parameters(&shown), expected);
        };
        check("", "");
        check("quiet", "[1-redacted]");
        check(
            "BOOT_IMAGE=/vmlinuz root=UUID=1-2 spectre_v2_user=prctl,ibpb rd.iscsi.password=hunter2",
            "spectre_v2_user=prctl,ibpb [3-redacted]",
        );
        let known = "spec_store_bypass_disable=auto";
        check(known, known);
        check("spectre_v2_user=hunter2@host", "[1-redacted]");
        let long = format!("spectre_v2_user={}", "a".repeat(VALUE_MAX + 1));
        check(&long, "[1-redacted]");
    }

    #[test]
    fn checks_find_their_parameters_in_what_is_kept() {
        let line = known_parameters("a=b spec_store_bypass_disable=on spectre_v2_user=off");
        assert_eq!(value(&line, STORE_BYPASS).as_deref(), Some("on"));
        assert_eq!(value(&line, SPECTRE_V2_USER).as_deref(), Some("off"));
    }
}
