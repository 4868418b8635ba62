//! Flows from lines copied by browsers "as cURL".

use crate::browser::{form_pairs, is_kept, split_url};
use crate::call::{Body, Call, Template, percent_encoded};
use crate::secret::Secrets;
use crate::{LeftOut, Taken, json, query};

/// One command: unquoted words, and the line in the record.
struct Command {
    line: usize,
    words: Vec<String>,
}

/// What the flags of a command said.
#[derive(Default)]
struct Said {
    method: Option<String>,
    url: Option<String>,
    headers: Vec<(String, String)>,
    data: Vec<String>,
    user: Option<String>,
    is_json: bool,
    as_query: bool,
    is_head: bool,
}

/// Returns one flow of all commands. Those that change data are passed over without `writes`.
///
/// # Errors
/// Where a quote is not closed, a flag lacks its value or a command names no URL: the line, and
/// what is wrong.
pub fn of_curl(text: &str, writes: bool) -> Result<Taken, String> {
    let mut taken = Taken::default();
    let mut secrets = Secrets::default();
    let mut calls = Vec::new();
    for command in commands(text)? {
        let place = format!("line {}", command.line);
        let at = |why: String| format!("{place}: {why}");
        let said = said(&command, &mut taken.left_out).map_err(at)?;
        let url = said
            .url
            .clone()
            .ok_or_else(|| at("this command names no URL".to_owned()))?;
        let url = match url.contains("://") {
            true => url,
            false => format!("http://{url}"),
        };
        let (origin, path) =
            split_url(&url).ok_or_else(|| at(format!("`{url}` is no address of HTTP")))?;
        if let Err(why) = taken.expect_origin(origin) {
            taken.left_out.push(LeftOut::new(place, why));
            continue;
        }
        let mut call = call(said, path, &mut secrets);
        taken.turn_off(&mut call, writes, &place);
        calls.push(call);
    }
    if calls.is_empty() {
        return Err("there is no curl command for one host in it".to_owned());
    }
    taken.add_walk("curl", &calls, &secrets);
    Ok(taken)
}

fn call(said: Said, mut path: String, secrets: &mut Secrets) -> Call {
    let data = said.data.join("&");
    let mut call = Call::default();
    if said.as_query && !data.is_empty() {
        path = format!("{path}{}{data}", if path.contains('?') { "&" } else { "?" });
    }
    let has_body = !said.data.is_empty() && !said.as_query;
    let method = match (said.is_head, has_body) {
        (true, _) => "HEAD",
        (_, true) => "POST",
        _ => "GET",
    };
    call.method = said
        .method
        .unwrap_or_else(|| method.to_owned())
        .to_ascii_uppercase();
    call.url = query::without_secrets(&path, secrets);
    let content_type = (said.headers.iter())
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.to_ascii_lowercase());
    let is_form = !said.is_json
        && content_type.is_none_or(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    for (name, value) in said.headers {
        match name.to_ascii_lowercase().as_str() {
            "cookie" => call.cookies.extend(cookies(&value, secrets)),
            "content-type" if is_form && has_body => {}
            _ if !is_kept(&name) => {}
            _ => {
                let value = secrets.template(&name, &value);
                call.headers.push((name, value));
            }
        }
    }
    if said.is_json {
        call.headers.push((
            "Content-Type".to_owned(),
            Template::text("application/json"),
        ));
    }
    if let Some(user) = said.user {
        let (name, password) = user.split_once(':').unwrap_or((&user, ""));
        call.user = Some((Template::text(name), secrets.hide("password", password)));
    }
    if has_body {
        call.body = match is_form {
            true => Body::Form(form(&data, secrets)),
            false => Body::Text(
                json::without_secrets(&data, secrets).unwrap_or_else(|| Template::text(&data)),
            ),
        };
    }
    call
}

fn form(data: &str, secrets: &mut Secrets) -> Vec<(String, Template)> {
    let pairs = form_pairs(data).into_iter();
    pairs
        .map(|(name, value)| {
            let value = secrets.template(&name, &value);
            (name, value)
        })
        .collect()
}

fn cookies(header: &str, secrets: &mut Secrets) -> Vec<(String, Template)> {
    let pairs = header
        .split(';')
        .filter_map(|pair| pair.trim().split_once('='));
    pairs
        .map(|(name, value)| {
            (
                name.to_owned(),
                secrets.hide(&format!("cookie_{name}"), value),
            )
        })
        .collect()
}

/// Flags with a value and no meaning for a flow.
const WITH_VALUE: [&str; 9] = [
    "-o",
    "--output",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-w",
    "--write-out",
    "--retry",
    "-c",
];
/// Flags without a value and without a meaning for a flow, or with the default behaviour.
const ALONE: [&str; 14] = [
    "--compressed",
    "-s",
    "-S",
    "-sS",
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

/// Reads the flags of a command; unknown ones are listed.
fn said(command: &Command, left_out: &mut Vec<LeftOut>) -> Result<Said, String> {
    let mut said = Said::default();
    let mut words = command.words.iter().skip(1);
    while let Some(word) = words.next() {
        let (flag, glued) = split_flag(word);
        let mut value = || {
            let next = glued.map(str::to_owned).or_else(|| words.next().cloned());
            next.ok_or_else(|| format!("{flag} needs a value"))
        };
        match flag {
            "-X" | "--request" => said.method = Some(value()?),
            "-H" | "--header" => {
                let header = value()?;
                if let Some((name, content)) = header.split_once(':') {
                    let pair = (name.trim().to_owned(), content.trim().to_owned());
                    said.headers.push(pair);
                }
            }
            "-d" | "--data" | "--data-raw" | "--data-binary" | "--data-ascii" | "--json" => {
                let data = value()?;
                said.is_json |= flag == "--json";
                if data.starts_with('@') && flag != "--data-raw" {
                    let why = format!("{flag} {data}: write the file's content into the flow");
                    left_out.push(LeftOut::new(format!("line {}", command.line), why));
                }
                said.data.push(data);
            }
            "--data-urlencode" => said.data.push(encoded(&value()?)),
            "-u" | "--user" => said.user = Some(value()?),
            "-b" | "--cookie" => said.headers.push(("Cookie".to_owned(), value()?)),
            "-A" | "--user-agent" | "-e" | "--referer" => drop(value()?),
            "-G" | "--get" => said.as_query = true,
            "-I" | "--head" => said.is_head = true,
            "--url" => said.url = Some(value()?),
            flag if WITH_VALUE.contains(&flag) => drop(value()?),
            flag if ALONE.contains(&flag) => {}
            flag if flag.starts_with('-') && flag.len() > 1 => {
                let why = format!("{flag} is not taken over");
                left_out.push(LeftOut::new(format!("line {}", command.line), why));
            }
            _ => said.url = Some(word.clone()),
        }
    }
    Ok(said)
}

/// `-XPOST` and `--request=POST` as flag and value.
fn split_flag(word: &str) -> (&str, Option<&str>) {
    if word.starts_with("--") {
        return match word.split_once('=') {
            Some((flag, value)) => (flag, Some(value)),
            None => (word, None),
        };
    }
    let glues = ["-X", "-H", "-d", "-u", "-b", "-A", "-e", "-o", "-m"];
    match glues
        .iter()
        .find(|flag| word.starts_with(**flag) && word.len() > 2)
    {
        Some(flag) => (flag, Some(&word[2..])),
        None => (word, None),
    }
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

/// Splits a text into commands as a shell would.
fn commands(text: &str) -> Result<Vec<Command>, String> {
    let mut commands: Vec<Command> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let (mut line, mut begun) = (1, 1);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some('\n') => line += 1,
                // A line break of Windows.
                Some('\r') if letters.peek() == Some(&'\n') => {
                    letters.next();
                    line += 1;
                }
                other => word.get_or_insert_default().extend(other),
            },
            '\'' | '"' => {
                let started = line;
                let is_ansi = letter == '\'' && word.as_deref().is_some_and(|w| w.ends_with('$'));
                let into = word.get_or_insert_default();
                if is_ansi {
                    into.pop();
                }
                line += quoted(letter, is_ansi, &mut letters, into)
                    .ok_or_else(|| format!("line {started}: this {letter} is not closed"))?;
            }
            ' ' | '\t' | '\r' => words.extend(word.take()),
            '\n' | ';' | '&' | '|' => {
                words.extend(word.take());
                end(&mut words, begun, &mut commands);
                line += usize::from(letter == '\n');
            }
            other => word.get_or_insert_default().push(other),
        }
        if words.is_empty() && word.is_none() {
            begun = line;
        }
    }
    words.extend(word);
    end(&mut words, begun, &mut commands);
    Ok(commands)
}

fn end(words: &mut Vec<String>, line: usize, commands: &mut Vec<Command>) {
    let words = std::mem::take(words);
    if words
        .first()
        .is_some_and(|word| word == "curl" || word.ends_with("/curl"))
    {
        commands.push(Command { line, words });
    }
}

/// Reads up to the closing quote; returns the number of lines inside, `None` for an open quote.
fn quoted(
    quote: char,
    is_ansi: bool,
    letters: &mut std::iter::Peekable<std::str::Chars<'_>>,
    out: &mut String,
) -> Option<usize> {
    let mut lines = 0;
    loop {
        let letter = letters.next()?;
        lines += usize::from(letter == '\n');
        match letter {
            letter if letter == quote => return Some(lines),
            '\\' if is_ansi => ansi(letters, out)?,
            '\\' if quote == '"' => match letters.next()? {
                '\n' => lines += 1,
                letter @ ('"' | '\\' | '$' | '`') => out.push(letter),
                letter => out.extend(['\\', letter]),
            },
            letter => out.push(letter),
        }
    }
}

/// What stands behind a backslash in `$'…'`; `None` where the text ends.
fn ansi(letters: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Option<()> {
    let letter = letters.next()?;
    let digits = match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    if digits > 0 {
        let mut number = String::new();
        while number.len() < digits {
            match letters.next_if(char::is_ascii_hexdigit) {
                Some(digit) => number.push(digit),
                None => break,
            }
        }
        let code = u32::from_str_radix(&number, 16).ok();
        out.extend(code.and_then(char::from_u32));
        return Some(());
    }
    out.push(match letter {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    });
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_a_shell_reads_them() {
        let text = "curl 'http://a.test/x?y=1' \\\n  -H $'X-Name: it\\'s \\u0041' \\\r\n --data-raw \"a=\\\"b\\\"\"\nls\n";
        let commands = commands(text).expect("commands");
        assert_eq!(commands.len(), 1);
        let words: Vec<&str> = commands[0].words.iter().map(String::as_str).collect();
        assert_eq!(
            words,
            [
                "curl",
                "http://a.test/x?y=1",
                "-H",
                "X-Name: it's A",
                "--data-raw",
                "a=\"b\""
            ]
        );
        assert!(super::commands("curl 'http://a").is_err());
    }

    #[test]
    fn secrets_stand_in_the_feed_alone() {
        let text = "curl 'http://a.test/login?token=qu13t' -H 'Cookie: sid=s3cr3t' --data-raw 'name=ann&password=hush'";
        let taken = of_curl(text, true).expect("a flow");
        let flow = &taken.flows[0];
        assert!(
            ["hush", "s3cr3t", "qu13t"]
                .iter()
                .all(|secret| !flow.text.contains(secret)),
            "{}",
            flow.text
        );
        assert_eq!(
            flow.text,
            "POST {{base_url}}/login?token={{token}}\n[Cookies]\nsid: {{cookie_sid}}\n[Form]\nname: ann\npassword: {{password}}\n"
        );
        assert_eq!(
            flow.feed.as_deref(),
            Some("token,cookie_sid,password\n\"qu13t\",\"s3cr3t\",\"hush\"\n")
        );
        assert!(
            of_curl(text, false).expect("a flow").flows[0]
                .text
                .contains("skip: true")
        );
    }

    #[test]
    fn secrets_of_a_body_in_json_stand_in_the_feed_alone() {
        let body = r#"{"name": "ann", "password": "hu\"sh", "card": {"number": 4111}}"#;
        for data in [
            format!("-H 'content-type: application/json' --data-raw '{body}'"),
            format!("--json '{body}'"),
        ] {
            let taken = of_curl(&format!("curl http://a.test/login {data}"), true);
            let flow = &taken.expect("a flow").flows[0];
            let text = &flow.text;
            assert!(!text.contains("hu") && !text.contains("4111"), "{text}");
            assert!(text.contains("\"name\": \"ann\""), "{text}");
            let feed = flow.feed.as_deref();
            assert_eq!(feed, Some("password,number\n\"hu\\\"\"sh\",\"4111\"\n"));
        }
    }
}
