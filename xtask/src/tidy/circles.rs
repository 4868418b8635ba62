//! Circles of modules beside each other, each with all modules inside.
//!
//! A module and its own children use one another in every crate, as a type and its parts do; rooms
//! of one floor that all need each other are one room.

use std::collections::{BTreeMap, BTreeSet};

use super::File;

/// Most modules in one circle.
const CIRCLE_MAX: usize = 3;

/// Names from the crate's root to a module.
type Path<'a> = Vec<&'a str>;

/// Modules used by a module beside.
type Uses<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Returns a fault for each circle of more than [`CIRCLE_MAX`] modules.
pub(super) fn long(files: &[File]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<Path<'_>, &str>> = BTreeMap::new();
    for file in files {
        if let Some((name, path)) = module(&file.path) {
            let modules = crates.entry(name).or_default();
            modules.insert(path, &file.text);
        }
    }
    let mut wrong = Vec::new();
    for (name, modules) in &crates {
        for (floor, uses) in floors(modules) {
            let circles = circles(&uses).into_iter();
            wrong.extend(circles.filter(|circle| circle.len() > CIRCLE_MAX).map(|circle| {
                let place = [&[*name][..], &floor[..]].concat().join("::");
                format!(
                    "{place}: {} use each other in a circle, at most {CIRCLE_MAX} modules may; move what the first one needs",
                    circle.join(", ")
                )
            }));
        }
    }
    wrong
}

/// Returns crate and module of a source file; `None` for tests and other files.
fn module(path: &str) -> Option<(&str, Path<'_>)> {
    let (name, path) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let path = path.strip_suffix(".rs")?;
    let mut path: Path<'_> = path.split('/').collect();
    if matches!(path.last(), Some(&("mod" | "lib" | "main"))) {
        path.pop();
    }
    let is_test = |part: &&str| *part == "tests" || part.ends_with("_tests");
    (!path.iter().any(is_test)).then_some((name, path))
}

/// Returns for each module how the children use each other.
fn floors<'a>(modules: &BTreeMap<Path<'a>, &'a str>) -> BTreeMap<Path<'a>, Uses<'a>> {
    let mut floors: BTreeMap<Path<'a>, Uses<'a>> = BTreeMap::new();
    for (from, text) in modules {
        for used in named(text) {
            let Some(to) = resolved(modules, from, &used) else {
                continue;
            };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(user), Some(used)) = (from.get(common), to.get(common)) {
                let floor = floors.entry(from[..common].to_vec()).or_default();
                floor.entry(user).or_default().insert(used);
            }
        }
    }
    floors
}

/// Returns the module named by a path in another one: the last part of the path with a file.
fn resolved<'a>(
    modules: &BTreeMap<Path<'a>, &'a str>,
    from: &Path<'a>,
    path: &[&'a str],
) -> Option<Path<'a>> {
    let mut at = from.clone();
    let mut rest = path;
    match rest {
        ["crate", ..] => {
            at.clear();
            rest = &rest[1..];
        }
        ["self", ..] => rest = &rest[1..],
        ["super", ..] => {
            while let ["super", others @ ..] = rest {
                at.pop();
                rest = others;
            }
        }
        [child, ..] => {
            let inside = [&from[..], &[*child]].concat();
            modules.get(&inside)?;
        }
        [] => return None,
    }
    for name in rest {
        at.push(name);
        if !modules.contains_key(&at) {
            at.pop();
            break;
        }
    }
    Some(at)
}

/// Returns all paths of two and more names in code, with groups in braces written out.
fn named(text: &str) -> Vec<Path<'_>> {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
    let mut all = Vec::new();
    for line in statements(code) {
        let mut rest = line;
        while let Some(start) = rest.find(is_letter) {
            let mut reader = Reader {
                rest: &rest[start..],
            };
            reader.path(&[], &mut all);
            rest = reader.rest;
        }
    }
    all.retain(|path| path.len() > 1);
    all
}

/// Returns code between comments.
fn statements(code: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (at, _) in code.match_indices("//") {
        if at < start {
            continue;
        }
        pieces.push(&code[start..at]);
        start = code[at..].find('\n').map_or(code.len(), |end| at + end);
    }
    pieces.push(&code[start..]);
    pieces
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// What is left of a text.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn name(&mut self) -> &'a str {
        let end = self.rest.find(|letter: char| !is_letter(letter));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        name
    }

    /// Reads a path, perhaps with several in braces at the end.
    fn path(&mut self, before: &[&'a str], all: &mut Vec<Path<'a>>) {
        let mut path = before.to_vec();
        loop {
            let name = self.name();
            if !name.is_empty() && (name != "self" || path.is_empty()) {
                path.push(name);
            }
            if !self.eat("::") {
                return all.push(path);
            }
            if self.eat("{") {
                return self.group(&path, all);
            }
        }
    }

    fn group(&mut self, before: &[&'a str], all: &mut Vec<Path<'a>>) {
        loop {
            self.space();
            if self.rest.is_empty() || self.eat("}") {
                return;
            }
            let length = self.rest.len();
            self.path(before, all);
            self.space();
            if self.eat("as ") {
                self.space();
                self.name();
            }
            self.space();
            // A comma, or something that is no list of paths.
            if !self.eat(",") && self.rest.len() == length {
                return;
            }
        }
    }
}

/// Returns the sets of modules of which each reaches all others, with more than one module.
fn circles<'a>(uses: &Uses<'a>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let mut seen: BTreeSet<&'a str> = BTreeSet::new();
        let mut next = vec![from];
        while let Some(at) = next.pop() {
            for used in uses.get(at).into_iter().flatten() {
                if seen.insert(used) {
                    next.push(used);
                }
            }
        }
        seen
    };
    let from: BTreeMap<&'a str, BTreeSet<&'a str>> = uses
        .keys()
        .map(|module| (*module, reached(module)))
        .collect();
    let mut all: BTreeSet<Vec<&'a str>> = BTreeSet::new();
    for (module, reached) in &from {
        let is_back =
            |other: &&&'a str| from.get(**other).is_some_and(|back| back.contains(module));
        let circle: Vec<&'a str> = reached.iter().filter(is_back).copied().collect();
        if circle.len() > 1 {
            all.insert(circle);
        }
    }
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn circles_of_modules_beside_each_other_are_found() {
        let used = |next: &str| {
            format!("use crate::{{x::{next}::{{self, Thing as T}}, y}}; // crate::x::a")
        };
        let mut files = vec![
            file("crates/c/src/lib.rs", "mod x; mod y;"),
            file("crates/c/src/x.rs", "mod a; use a::Thing;"),
            file("crates/c/src/x/a.rs", &used("b")),
            file("crates/c/src/x/b.rs", &used("c")),
            file("crates/c/src/x/c.rs", "use super::d::Thing;"),
            file(
                "crates/c/src/x/d.rs",
                "fn f() {}\n#[cfg(test)]\nmod tests { use super::super::a; }",
            ),
            file("crates/c/src/y.rs", "use std::fmt;"),
        ];
        assert_eq!(long(&files), Vec::<String>::new());
        files.push(file(
            "crates/c/src/x/d/inner.rs",
            "fn f() { crate::x::a::go() }",
        ));
        let wrong = long(&files);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert!(
            wrong[0].starts_with("c::x: a, b, c, d use each other"),
            "{wrong:?}"
        );
    }
}
