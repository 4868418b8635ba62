//! Names for routes where no framework gives any: request lines such as `GET /channel/12` are
//! clustered by path segments. Pure.

use std::collections::{HashMap, HashSet};

/// Distinct values of a segment under one prefix from which the values are names rather than
/// endpoints. Chosen by judgement: few apps have so many endpoints under one prefix in one
/// scenario.
const NAMES_MIN: usize = 20;
/// Fewest distinct names for a merge at the root, where endpoints live.
const NAMES_MIN_AT_ROOT: usize = 100;
/// Fewest distinct file names for a merge, which hides little there.
const FILES_MIN: usize = 8;
/// The limit for values with different digits only (`user17`, `user18`); `v1` and `v2` stay.
const NUMBERED_MIN: usize = 5;
/// A segment so long is a token, not an endpoint.
const LONG_BYTES: usize = 40;
/// Fewest hexadecimal digits of a hash; shorter ones are often words.
const HASH_DIGITS_MIN: usize = 8;

/// Returns the pattern of `line`, the one with the fewest placeholders if several fit.
pub fn matching<'a>(patterns: &HashSet<&'a str>, line: &str) -> Option<&'a str> {
    let fits = |pattern: &&&str| {
        let (mut left, mut right) = (pattern.split('/'), line.split('/'));
        loop {
            match (left.next(), right.next()) {
                (None, None) => return true,
                (Some(want), Some(have)) if is_placeholder(want) && !have.is_empty() => {}
                (Some(want), Some(have)) if want == have => {}
                _ => return false,
            }
        }
    };
    let placeholders = |pattern: &&str| pattern.split('/').filter(|s| is_placeholder(s)).count();
    patterns
        .iter()
        .filter(fits)
        .min_by_key(|pattern| (placeholders(pattern), **pattern))
        .copied()
}

fn is_placeholder(segment: &str) -> bool {
    segment.starts_with(':')
}

/// Returns the route of each line, in order of the lines: replaces the varying segments of lines
/// such as `GET /channel/12`, position by position, so the values under `/channel/:id` are judged
/// for all channels together.
pub fn cluster(lines: &[&str]) -> Vec<String> {
    let mut split: Vec<(&str, Vec<String>)> = lines
        .iter()
        .map(|line| {
            let (line, _) = apart_from_message(line);
            let (method, path) = line.split_once(' ').unwrap_or(("", line));
            (method, path.split('/').map(str::to_owned).collect())
        })
        .collect();
    let longest = split.iter().map(|(_, path)| path.len()).max().unwrap_or(0);
    for position in 0..longest {
        let mut values: HashMap<Vec<String>, HashSet<String>> = HashMap::new();
        for (_, path) in &mut split {
            if let Some(segment) = path.get_mut(position) {
                if let Some(shape) = shape(segment) {
                    *segment = shape.to_owned();
                }
                let (prefix, rest) = path.split_at(position);
                if let Some(segment) = rest.first().filter(|segment| !is_placeholder(segment)) {
                    values
                        .entry(prefix.to_vec())
                        .or_default()
                        .insert(segment.clone());
                }
            }
        }
        let merged: HashMap<Vec<String>, HashMap<String, &'static str>> = values
            .into_iter()
            .map(|(prefix, values)| (prefix, merge(&values, position)))
            .collect();
        for (_, path) in &mut split {
            let replacement = path
                .get(position)
                .and_then(|segment| merged.get(&path[..position])?.get(segment));
            if let Some(replacement) = replacement {
                path[position] = (*replacement).to_owned();
            }
        }
    }
    split
        .into_iter()
        .zip(lines)
        .map(|((method, path), line)| {
            let (_, message) = apart_from_message(line);
            let route = format!("{method} {}{message}", path.join("/"));
            route.trim().to_owned()
        })
        .collect()
}

/// Cuts a line after the path: a space and the name of a WebSocket message may follow.
fn apart_from_message(line: &str) -> (&str, &str) {
    let path = line.find(' ').map_or(0, |space| space + 1);
    let end = line[path..]
        .find(' ')
        .map_or(line.len(), |space| path + space);
    line.split_at(end)
}

/// Returns the parameters among the values of one segment under one prefix.
fn merge(values: &HashSet<String>, position: usize) -> HashMap<String, &'static str> {
    let mut files = Vec::new();
    let mut names = Vec::new();
    let mut numbered: HashMap<String, Vec<&String>> = HashMap::new();
    for value in values {
        if is_file(value) {
            files.push(value);
        } else {
            names.push(value);
            if value.bytes().any(|byte| byte.is_ascii_digit()) {
                let bare = value.replace(|letter: char| letter.is_ascii_digit(), "");
                numbered.entry(bare).or_default().push(value);
            }
        }
    }
    let mut merged = HashMap::new();
    if files.len() >= FILES_MIN {
        merged.extend(files.into_iter().map(|value| (value.clone(), ":file")));
    }
    // A path begins with a slash, so the segment at position 0 is empty and the root's are at 1.
    let names_min = if position <= 1 {
        NAMES_MIN_AT_ROOT
    } else {
        NAMES_MIN
    };
    if names.len() >= names_min {
        merged.extend(names.into_iter().map(|value| (value.clone(), ":name")));
    } else {
        let alike = numbered
            .into_values()
            .filter(|alike| alike.len() >= NUMBERED_MIN);
        merged.extend(alike.flatten().map(|value| (value.clone(), ":name")));
    }
    merged
}

/// Returns the placeholder of a segment by looks alone, such as `:id` for digits; `None` for a
/// word.
pub fn shape(segment: &str) -> Option<&'static str> {
    let bytes = segment.as_bytes();
    if bytes.is_empty() || is_placeholder(segment) {
        return None;
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        return Some(":id");
    }
    if is_uuid(bytes) {
        return Some(":uuid");
    }
    if is_hash(bytes) {
        return Some(":hash");
    }
    if let Some((stem, extension)) = segment.rsplit_once('.')
        && is_extension(extension)
    {
        return shape(stem).map(|_| ":file");
    }
    (bytes.len() >= LONG_BYTES).then_some(":name")
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(index, byte)| match index {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether bytes are hexadecimal digits with at least one decimal digit: `facade` is a word.
fn is_hash(bytes: &[u8]) -> bool {
    bytes.len() >= HASH_DIGITS_MIN
        && bytes.iter().all(u8::is_ascii_hexdigit)
        && bytes.iter().any(u8::is_ascii_digit)
}

fn is_file(segment: &str) -> bool {
    segment
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && is_extension(extension))
}

fn is_extension(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[&str], expected: &[&str]) {
        assert_eq!(cluster(lines), expected);
    }

    #[test]
    fn shapes_tell_parameters() {
        check(
            &[
                "GET /channel/12",
                "GET /channel/57",
                "GET /channel/12/edit",
                "GET /",
            ],
            &[
                "GET /channel/:id",
                "GET /channel/:id",
                "GET /channel/:id/edit",
                "GET /",
            ],
        );
        check(
            &[
                "GET /u/123e4567-e89b-12d3-a456-426614174000",
                "GET /c/0123abcd",
            ],
            &["GET /u/:uuid", "GET /c/:hash"],
        );
        check(
            &[
                "GET /icons/d41d8cd98f00b204e9800998ecf8427e.png",
                "GET /icons/default.png",
            ],
            &["GET /icons/:file", "GET /icons/default.png"],
        );
        check(
            &["GET /facade", "GET /deadbeef"],
            &["GET /facade", "GET /deadbeef"],
        );
        check(&["", "GET", "GET //x/"], &["", "GET", "GET //x/"]);
    }

    #[test]
    fn endpoints_stay_apart() {
        let lines: Vec<String> = ["login", "register", "message", "fetch", "profile", "logout"]
            .iter()
            .map(|name| format!("GET /{name}"))
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&lines, &lines);
        check(
            &["GET /v1/users", "GET /v2/users", "GET /css/main.css"],
            &["GET /v1/users", "GET /v2/users", "GET /css/main.css"],
        );
    }

    #[test]
    fn many_values_are_names() {
        let letters = "abcdefghijklmnopqrstuvwxyz";
        let names: Vec<String> = letters
            .chars()
            .map(|c| format!("GET /profile/{c}lice/photo"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        check(&names, &["GET /profile/:name/photo"; 26]);
        let files: Vec<String> = letters.chars().map(|c| format!("GET /js/{c}.js")).collect();
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        check(&files, &["GET /js/:file"; 26]);
        let users: Vec<String> = (1..6).map(|n| format!("GET /user{n}")).collect();
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        check(&users, &["GET /:name"; 5]);
    }
}
