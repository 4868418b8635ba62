//! The names that ActiveRecord gives to what a schema file does not name.
//!
//! Singular and plural follow the rules that ActiveSupport documents as frozen. An application's
//! own inflections are Ruby and cannot be known here; their authors name the columns.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Longest index name in bytes that ActiveRecord 7.1 and later give by themselves.
const INDEX_NAME_MAX: usize = 62;

/// Hexadecimal digits of a hash in a name.
const HASH_DIGITS: usize = 10;

/// Words that are the same in both numbers.
const UNCOUNTABLE: [&str; 10] = [
    "equipment",
    "information",
    "rice",
    "money",
    "species",
    "series",
    "fish",
    "sheep",
    "jeans",
    "police",
];

/// Singular and plural of irregular words.
const IRREGULAR: [(&str, &str); 6] = [
    ("person", "people"),
    ("man", "men"),
    ("child", "children"),
    ("sex", "sexes"),
    ("move", "moves"),
    ("zombie", "zombies"),
];

/// Ends of plurals, with how many letters of them go and what comes in their place; the first that
/// fits counts.
const SINGULARS: [(&str, usize, &str); 52] = [
    ("databases", 1, ""),
    ("quizzes", 3, ""),
    ("matrices", 3, "x"),
    ("vertices", 4, "ex"),
    ("indices", 4, "ex"),
    ("aliases", 2, ""),
    ("alias", 0, ""),
    ("statuses", 2, ""),
    ("status", 0, ""),
    ("octopi", 1, "us"),
    ("octopus", 0, ""),
    ("viri", 1, "us"),
    ("virus", 0, ""),
    ("crises", 2, "is"),
    ("crisis", 0, ""),
    ("testes", 2, "is"),
    ("testis", 0, ""),
    ("shoes", 1, ""),
    ("oes", 2, ""),
    ("buses", 2, ""),
    ("bus", 0, ""),
    ("xes", 2, ""),
    ("ches", 2, ""),
    ("sses", 2, ""),
    ("shes", 2, ""),
    ("movies", 1, ""),
    ("series", 0, ""),
    ("quies", 3, "y"),
    ("aies", 1, ""),
    ("eies", 1, ""),
    ("iies", 1, ""),
    ("oies", 1, ""),
    ("uies", 1, ""),
    ("yies", 1, ""),
    ("ies", 3, "y"),
    ("lves", 3, "f"),
    ("rves", 3, "f"),
    ("tives", 1, ""),
    ("hives", 1, ""),
    ("fves", 1, ""),
    ("ves", 3, "fe"),
    ("analyses", 2, "is"),
    ("bases", 2, "is"),
    ("diagnoses", 2, "is"),
    ("parentheses", 2, "is"),
    ("prognoses", 2, "is"),
    ("synopses", 2, "is"),
    ("theses", 2, "is"),
    ("news", 0, ""),
    ("ta", 1, "um"),
    ("ia", 1, "um"),
    ("ss", 0, ""),
];

/// Ends of singulars in the same form.
const PLURALS: [(&str, usize, &str); 33] = [
    ("quiz", 0, "zes"),
    ("oxen", 0, ""),
    ("matrix", 2, "ices"),
    ("vertex", 2, "ices"),
    ("index", 2, "ices"),
    ("vertix", 2, "ices"),
    ("indix", 2, "ices"),
    ("matrex", 2, "ices"),
    ("x", 0, "es"),
    ("ch", 0, "es"),
    ("ss", 0, "es"),
    ("sh", 0, "es"),
    ("quy", 1, "ies"),
    ("ay", 0, "s"),
    ("ey", 0, "s"),
    ("iy", 0, "s"),
    ("oy", 0, "s"),
    ("uy", 0, "s"),
    ("yy", 0, "s"),
    ("y", 1, "ies"),
    ("hive", 0, "s"),
    ("ffe", 0, "s"),
    ("fe", 2, "ves"),
    ("lf", 1, "ves"),
    ("rf", 1, "ves"),
    ("sis", 2, "es"),
    ("tum", 2, "a"),
    ("ium", 2, "a"),
    ("buffalo", 0, "es"),
    ("tomato", 0, "es"),
    ("bus", 0, "es"),
    ("alias", 0, "es"),
    ("status", 0, "es"),
];

/// `people` → `person`, in the last word of a name.
pub(crate) fn singular(name: &str) -> String {
    inflected(
        name,
        |(singular, plural)| (plural, singular),
        &SINGULARS,
        |name| name.strip_suffix('s').unwrap_or(name).to_owned(),
    )
}

/// `person` → `people`, in the last word of a name.
pub(crate) fn plural(name: &str) -> String {
    inflected(
        name,
        |pair| pair,
        &PLURALS,
        |name| match name.ends_with('s') {
            true => name.to_owned(),
            false => format!("{name}s"),
        },
    )
}

fn inflected(
    name: &str,
    order: impl Fn((&'static str, &'static str)) -> (&'static str, &'static str),
    rules: &[(&str, usize, &str)],
    otherwise: impl Fn(&str) -> String,
) -> String {
    let is_last_word = |word: &str| {
        let before = name.strip_suffix(word);
        before.is_some_and(|before| !before.ends_with(|letter: char| letter.is_alphanumeric()))
    };
    if UNCOUNTABLE.iter().any(|word| is_last_word(word)) {
        return name.to_owned();
    }
    for (from, to) in IRREGULAR.map(order) {
        if let Some(before) = name.strip_suffix(from) {
            return format!("{before}{to}");
        }
        if name.ends_with(to) {
            return name.to_owned();
        }
    }
    let mut rules = rules.iter().filter(|(end, _, _)| name.ends_with(end));
    match rules.next() {
        Some((_, gone, come)) => format!("{}{come}", &name[..name.len() - gone]),
        None => otherwise(name),
    }
}

/// The column that refers to a table's `id`: `authors` → `author_id`.
pub(crate) fn reference_column(table: &str, key: &str) -> String {
    let (_, table) = table.rsplit_once('.').unwrap_or(("", table));
    format!("{}_{key}", singular(table))
}

/// The name of an index; names longer than servers take are cut since ActiveRecord 7.1.
pub(crate) fn index(table: &str, columns: &[String], is_cut: bool) -> String {
    let name = format!("index_{table}_on_{}", columns.join("_and_"));
    if !is_cut || name.len() <= INDEX_NAME_MAX {
        return name;
    }
    let short = format!("idx_on_{}", columns.join("_"));
    let end = short.floor_char_boundary(INDEX_NAME_MAX - HASH_DIGITS - 1);
    format!("{}_{}", &short[..end], hash(&name))
}

/// The name of a constraint: `prefix` is what it begins with, `of` and `kind` what its hash is made
/// of.
pub(crate) fn constraint(prefix: &str, table: &str, of: &str, kind: &str) -> String {
    format!("{prefix}_rails_{}", hash(&format!("{table}_{of}_{kind}")))
}

fn hash(text: &str) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        let _ = write!(digits, "{byte:02x}");
    }
    digits.truncate(HASH_DIGITS);
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_numbers_that_activesupport_gives_them() {
        let check = |one: &str, many: &str| {
            assert_eq!(
                (singular(many), plural(one)),
                (one.to_owned(), many.to_owned())
            );
        };
        check("author", "authors");
        check("category", "categories");
        check("key", "keys");
        check("box", "boxes");
        check("address", "addresses");
        check("sales_person", "sales_people");
        check("woman", "women");
        check("child", "children");
        check("status", "statuses");
        check("analysis", "analyses");
        check("wolf", "wolves");
        check("knife", "knives");
        check("datum", "data");
        check("news_series", "news_series");
        check("movie", "movies");
        check("database", "databases");
        check("index", "indices");
        check("class", "classes");
        check("archive", "archives");
        check("bus", "buses");
        check("equipment", "equipment");
    }

    #[test]
    fn names_are_those_that_activerecord_gives() {
        // Taken from ActiveRecord 7.2: `connection.send(:foreign_key_name, "posts", column:
        // "author_id")` and the like.
        assert_eq!(reference_column("blog.people", "id"), "person_id");
        let columns = ["a".repeat(40), "b".repeat(40)];
        let cut = index("things", &columns, true);
        assert!(cut.len() <= INDEX_NAME_MAX && cut.starts_with("idx_on_aaa"));
        assert!(index("things", &columns, false).len() > INDEX_NAME_MAX);
    }
}
