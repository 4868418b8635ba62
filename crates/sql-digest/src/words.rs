//! The few keywords a digest depends on.

/// Meaning of a keyword for the following token.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// A bracket here holds a list.
    List,
    /// A bracket here holds a row.
    Rows,
    /// A double-quoted text or `NULL` here is a value, and a sign belongs to a number.
    Value,
    /// A sign here belongs to a number.
    Sign,
}

/// Keywords with a meaning for the following token, of at most 8 letters.
const LIST_WORDS: [u64; 2] = [packed(b"IN"), packed(b"ARRAY")];
const ROWS_WORDS: [u64; 2] = [packed(b"VALUES"), packed(b"VALUE")];
const VALUE_WORDS: [u64; 7] = [
    packed(b"LIKE"),
    packed(b"ILIKE"),
    packed(b"RLIKE"),
    packed(b"REGEXP"),
    packed(b"LIMIT"),
    packed(b"OFFSET"),
    packed(b"BETWEEN"),
];
const SIGN_WORDS: [u64; 14] = [
    packed(b"AND"),
    packed(b"OR"),
    packed(b"ON"),
    packed(b"BY"),
    packed(b"NOT"),
    packed(b"WHERE"),
    packed(b"SELECT"),
    packed(b"THEN"),
    packed(b"ELSE"),
    packed(b"WHEN"),
    packed(b"CASE"),
    packed(b"HAVING"),
    packed(b"RETURN"),
    packed(b"INTERVAL"),
];

/// A word of at most 8 letters in one number, upper case: one comparison a keyword, on every word.
const fn packed(word: &[u8]) -> u64 {
    let mut number = 0;
    let mut index = 0;
    while index < word.len() {
        number = number << 8 | word[index].to_ascii_uppercase() as u64;
        index += 1;
    }
    number
}

/// Returns the meaning of `word`; `None` for names and for keywords without one.
pub(crate) fn says(word: &[u8]) -> Option<Says> {
    if word.len() > 8 || word.len() < 2 {
        return None;
    }
    let word = packed(word);
    if LIST_WORDS.contains(&word) {
        Some(Says::List)
    } else if ROWS_WORDS.contains(&word) {
        Some(Says::Rows)
    } else if VALUE_WORDS.contains(&word) {
        Some(Says::Value)
    } else if SIGN_WORDS.contains(&word) {
        Some(Says::Sign)
    } else {
        None
    }
}

/// Whether the word is itself a value.
pub(crate) fn is_constant(word: &[u8]) -> bool {
    ["NULL", "TRUE", "FALSE", "DEFAULT"]
        .iter()
        .any(|constant| word.eq_ignore_ascii_case(constant.as_bytes()))
}
