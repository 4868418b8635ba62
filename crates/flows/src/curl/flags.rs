//! Flags of a command, as read by curl.

use super::words::Command;
use crate::LeftOut;
use crate::call::percent_encoded;

/// What the flags of a command said.
#[derive(Default)]
pub(super) struct Said {
    pub(super) method: Option<String>,
    pub(super) url: Option<String>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) data: Vec<String>,
    pub(super) user: Option<String>,
    pub(super) is_json: bool,
    pub(super) as_query: bool,
    pub(super) is_head: bool,
    /// Whether a body was given and is left out: of several parts, or from a file.
    pub(super) has_form: bool,
    /// Whether a file was to be sent.
    pub(super) is_upload: bool,
}

/// Flags with a value and no meaning for a flow.
const WITH_VALUE: [&str; 21] = [
    "-A",
    "--user-agent",
    "-c",
    "--cookie-jar",
    "--connect-timeout",
    "-D",
    "--dump-header",
    "-e",
    "--referer",
    "-m",
    "--max-time",
    "-o",
    "--output",
    "--retry",
    "--retry-delay",
    "--retry-max-time",
    "--stderr",
    "--trace",
    "--trace-ascii",
    "-w",
    "--write-out",
];
/// Flags with a value and a meaning for a flow.
const MEANT: [&str; 25] = [
    "-X",
    "--request",
    "-H",
    "--header",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-ascii",
    "--data-urlencode",
    "--json",
    "-F",
    "--form",
    "--form-string",
    "-T",
    "--upload-file",
    "-u",
    "--user",
    "-b",
    "--cookie",
    "--oauth2-bearer",
    "--url",
    "--url-query",
    "--proxy-header",
    "--request-target",
];
/// Flags with a value left out of the flow, and listed.
const NOT_TAKEN: [&str; 36] = [
    "-x",
    "--proxy",
    "-U",
    "--proxy-user",
    "-E",
    "--cert",
    "--cert-type",
    "--key",
    "--key-type",
    "--pass",
    "--cacert",
    "--capath",
    "--pinnedpubkey",
    "-K",
    "--config",
    "--resolve",
    "--connect-to",
    "--unix-socket",
    "--interface",
    "--dns-servers",
    "-r",
    "--range",
    "--limit-rate",
    "--aws-sigv4",
    "--ciphers",
    "--tls-max",
    "--max-redirs",
    "-z",
    "--time-cond",
    "-C",
    "--continue-at",
    "--noproxy",
    "--proto",
    "--socks5",
    "--socks5-hostname",
    "--rate",
];
/// Flags without a value and without a meaning for a flow, or with the default behaviour.
const ALONE: [&str; 13] = [
    "--compressed",
    "-s",
    "-S",
    "--silent",
    "--show-error",
    "-v",
    "--verbose",
    "-i",
    "--include",
    "--globoff",
    "-g",
    "-f",
    "--fail",
];

/// Reads the flags of a command; what is not taken over is listed.
pub(super) fn said(command: &Command, left_out: &mut Vec<LeftOut>) -> Result<Said, String> {
    let mut said = Said::default();
    let mut words = command.words.iter().skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with('-') || word == "-" {
            said.url = Some(word.clone());
            continue;
        }
        for (flag, glued) in split_flags(word) {
            let value = match has_value(&flag) {
                true => glued.or_else(|| words.next().cloned()),
                false => Some(String::new()),
            };
            let value = value.ok_or_else(|| format!("{flag} needs a value"))?;
            if let Some(why) = said.take(&flag, value) {
                left_out.push(LeftOut::new(format!("line {}", command.line), why));
            }
        }
    }
    Ok(said)
}

impl Said {
    /// Takes a flag over; returns what of the flag is not.
    fn take(&mut self, flag: &str, value: String) -> Option<String> {
        match flag {
            "-X" | "--request" => self.method = Some(value),
            "-H" | "--header" => {
                let (name, content) = value.split_once(':')?;
                let pair = (name.trim().to_owned(), content.trim().to_owned());
                self.headers.push(pair);
            }
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--json" => {
                self.is_json |= flag == "--json";
                let is_file = value.starts_with('@') && flag != "--data-raw";
                let why = format!("{flag} {value}: write the file's content into the flow");
                self.data.push(value);
                return is_file.then_some(why);
            }
            "--data-urlencode" if names_file(&value) => {
                self.has_form = true;
                return Some(format!(
                    "{flag} {value}: write the file's content into the flow"
                ));
            }
            "--data-urlencode" => self.data.push(encoded(&value)),
            "-F" | "--form" | "--form-string" => {
                self.has_form = true;
                let name = value.split('=').next().unwrap_or_default();
                return Some(format!(
                    "{flag} {name}=…: write the field into [Multipart] of the flow"
                ));
            }
            "-T" | "--upload-file" => {
                self.is_upload = true;
                return Some(format!("{flag}: write the file's content into the flow"));
            }
            "-u" | "--user" => self.user = Some(value),
            "--oauth2-bearer" => {
                let pair = ("Authorization".to_owned(), format!("Bearer {value}"));
                self.headers.push(pair);
            }
            "-b" | "--cookie" if value.contains('=') => {
                self.headers.push(("Cookie".to_owned(), value));
            }
            "-G" | "--get" => self.as_query = true,
            "-I" | "--head" => self.is_head = true,
            "--url" => self.url = Some(value),
            flag if WITH_VALUE.contains(&flag) || ALONE.contains(&flag) => {}
            flag => return Some(format!("{flag} is not taken over")),
        }
        None
    }
}

/// Returns whether data is `name@file`, as `--data-urlencode` reads a file.
fn names_file(data: &str) -> bool {
    let mark = data.find(['=', '@']);
    mark.is_some_and(|at| data[at..].starts_with('@'))
}

fn has_value(flag: &str) -> bool {
    WITH_VALUE.contains(&flag) || MEANT.contains(&flag) || NOT_TAKEN.contains(&flag)
}

/// Splits `-sXPOST` and `--request=POST` into flags, the last with the value behind.
fn split_flags(word: &str) -> Vec<(String, Option<String>)> {
    if word.starts_with("--") {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (word, None),
        };
        return vec![(flag.to_owned(), value)];
    }
    let mut flags = Vec::new();
    for (at, letter) in word.char_indices().skip(1) {
        let flag = format!("-{letter}");
        let rest = &word[at + letter.len_utf8()..];
        if has_value(&flag) {
            flags.push((flag, (!rest.is_empty()).then(|| rest.to_owned())));
            break;
        }
        flags.push((flag, None));
    }
    flags
}

fn encoded(pair: &str) -> String {
    let (name, value) = pair.split_once('=').unwrap_or(("", pair));
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || "-._~".contains(letter);
    let value = percent_encoded(value, is_kept);
    match name {
        "" => value,
        name => format!("{name}={value}"),
    }
}
