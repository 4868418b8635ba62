//! Shell script on the far host: reports the host, receives the program, and executes the program.
//!
//! The file loses its name before its first byte is written and is run through its descriptor. So
//! nothing has to be tidied up, whenever and however this shell or the program ends.

/// What the far side says before frames begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// System and architecture of the host, as named by `uname`.
    Host {
        system: String,
        architecture: String,
    },
    /// The shell is ready to receive the program.
    Send,
    /// The shell gave up.
    Failed(Failed),
    /// The program greets, with a version of the frames.
    Greeting(u32),
}

/// Why the shell gave up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failed {
    /// No folder has room and lets programs run; what was tried.
    NoFolder(String),
    /// The file could not be written completely.
    Write,
    /// What arrived has another hash.
    Hash,
}

const HOST: &str = "hakaru-host";
const SEND: &str = "hakaru-send";
const FAILED: &str = "hakaru-failed";
const GREETING: &str = "hakaru-far";

/// Returns the program's greeting, without an end of line.
pub(crate) fn greeting() -> String {
    format!("{GREETING} {}", crate::VERSION)
}

/// Returns a command for any login shell: `sh` with a script without single quotes, exclamation
/// marks and ends of line, the only characters read differently by other shells. The words must be
/// plain ([`is_plain`]).
pub(crate) fn command(words: &[&str], sudo: bool) -> String {
    let words = words.join(" ");
    // Each program that the script starts costs a host some milliseconds, so few are. `df` prints a
    // head of seven words, then device, size, used and free.
    // `sudo` closes descriptors, so the shell stays and keeps the file open.
    let run = match sudo {
        true => format!("sudo -n /proc/$$/fd/4 {words}"),
        false => format!("exec /proc/self/fd/4 {words}"),
    };
    let script = [
        &format!("echo \"{HOST} $(uname -sm)\""),
        "read -r size hash || exit 1",
        "umask 077",
        "tried= found=",
        "for folder in \"${TMPDIR:-/tmp}\" /var/tmp /dev/shm \"$HOME\"; do \
           tried=\"$tried $folder\"; \
           set -- $(LC_ALL=C df -Pk \"$folder\" 2>/dev/null); \
           [ \"${11:-0}\" -gt \"$((size / 1024 + 1024))\" ] 2>/dev/null || { tried=\"$tried (full)\"; continue; }; \
           file=$(mktemp \"$folder/hakaru.XXXXXXXX\" 2>/dev/null) || continue; \
           chmod 700 \"$file\"; \
           if [ -x \"$file\" ]; then exec 3>\"$file\" 4<\"$file\"; rm -f \"$file\"; found=1; break; fi; \
           rm -f \"$file\"; tried=\"$tried (noexec)\"; \
         done",
        &format!("[ -n \"$found\" ] || {{ echo \"{FAILED} folder$tried\"; exit 1; }}"),
        &format!("echo {SEND}"),
        &format!("head -c \"$size\" >&3 || {{ echo \"{FAILED} write\"; exit 1; }}"),
        "exec 3>&-",
        "set -- $(sha256sum <&4)",
        &format!("[ \"$1\" = \"$hash\" ] || {{ echo \"{FAILED} hash\"; exit 1; }}"),
        &run,
    ]
    .join("; ");
    format!("exec sh -c '{script}'")
}

/// Whether a word means itself in every shell.
pub(crate) fn is_plain(word: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=/.,:%+@".contains(&byte);
    !word.is_empty() && word.bytes().all(is_plain)
}

/// Understands a line; `None` of what the user's own start-up files print.
pub(crate) fn understand(line: &str) -> Option<Line> {
    let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
    match first {
        HOST => {
            let (system, architecture) = rest.split_once(' ')?;
            Some(Line::Host {
                system: system.to_owned(),
                architecture: architecture.to_owned(),
            })
        }
        SEND => Some(Line::Send),
        FAILED => {
            let failed = match rest.split_once(' ').unwrap_or((rest, "")) {
                ("write", _) => Failed::Write,
                ("hash", _) => Failed::Hash,
                ("folder", tried) => Failed::NoFolder(tried.to_owned()),
                _ => return None,
            };
            Some(Line::Failed(failed))
        }
        GREETING => Some(Line::Greeting(rest.parse().ok()?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_means_the_same_in_every_shell() {
        for sudo in [false, true] {
            let command = command(&["collector", "--part=1/3"], sudo);
            let inside = command.strip_prefix("exec sh -c '").expect("the start");
            let inside = inside.strip_suffix('\'').expect("the end");
            assert!(!inside.contains(['\'', '!', '\n']), "{inside}");
        }
    }

    #[test]
    fn lines_are_understood_and_those_of_others_are_not() {
        let host = Line::Host {
            system: "Linux".to_owned(),
            architecture: "x86_64".to_owned(),
        };
        let tried = Failed::NoFolder("/tmp (full)".to_owned());
        assert_eq!(understand("hakaru-host Linux x86_64"), Some(host));
        assert_eq!(
            understand("hakaru-failed folder /tmp (full)"),
            Some(Line::Failed(tried))
        );
        assert_eq!(
            understand(&greeting()),
            Some(Line::Greeting(crate::VERSION))
        );
        for other in [
            "Welcome to app1!",
            "",
            "hakaru",
            "hakaru-far x",
            "hakaru-failed",
        ] {
            assert_eq!(understand(other), None, "{other}");
        }
    }
}
