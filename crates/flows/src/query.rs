//! Places of the values in a query or a form, so single ones can be replaced and all other letters
//! stay.

use std::ops::Range;

use crate::browser::decoded;
use crate::call::{Style, Template};
use crate::secret::{Secrets, is_secret, is_token};

/// A value in the query of an address or in a form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) name: String,
    /// The value without escapes.
    pub(crate) value: String,
    /// Whether the name or the value is a secret's.
    pub(crate) is_secret: bool,
    /// Place of the value in the text, as written.
    place: Range<usize>,
}

/// Returns the address with the variable returned by `variable_of` in place of each value of the
/// query; the function gets the value, and the letters in an address.
pub(crate) fn template(
    url: &str,
    mut variable_of: impl FnMut(&Field, &str) -> Option<String>,
) -> Template {
    let mut places = Vec::new();
    for field in fields(url) {
        let letters = Template::text(&url[field.place.clone()]).print(Style::Url);
        if !letters.is_empty()
            && let Some(name) = variable_of(&field, &letters)
        {
            places.push((field.place.clone(), name));
        }
    }
    Template::with(url, &places)
}

/// Returns the address with a variable in place of each secret of the query.
pub(crate) fn without_secrets(url: &str, secrets: &mut Secrets) -> Template {
    template(url, |field, letters| {
        field
            .is_secret
            .then(|| secrets.column(&field.name, letters))
    })
}

/// Returns the text of a form with a variable in place of each secret.
pub(crate) fn form_without_secrets(text: &str, secrets: &mut Secrets) -> Template {
    let mut places = Vec::new();
    for field in fields_from(text, 0) {
        let letters = &text[field.place.clone()];
        if !letters.is_empty() && field.is_secret {
            let name = secrets.column(&field.name, letters);
            places.push((field.place, name));
        }
    }
    Template::with(text, &places)
}

/// Returns whether a value of the query is a secret.
pub(crate) fn has_secret(url: &str) -> bool {
    let is_hidden = |field: &Field| !field.value.is_empty() && field.is_secret;
    fields(url).iter().any(is_hidden)
}

/// Returns the values of the query of an address, in order.
pub(crate) fn fields(url: &str) -> Vec<Field> {
    let whole = url.split('#').next().unwrap_or_default();
    match whole.find('?') {
        Some(mark) => fields_from(whole, mark + 1),
        None => Vec::new(),
    }
}

fn fields_from(text: &str, start: usize) -> Vec<Field> {
    let mut at = start;
    let mut fields = Vec::new();
    for pair in text[start..].split('&') {
        if let Some((name, value)) = pair.split_once('=') {
            let plain = |text: &str| decoded(&text.replace('+', " "));
            let (name_of, value_of) = (plain(name), plain(value));
            fields.push(Field {
                is_secret: is_secret(&name_of) || is_token(&value_of),
                name: name_of,
                value: value_of,
                place: at + name.len() + 1..at + pair.len(),
            });
        }
        at += pair.len() + 1;
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_query_are_replaced_where_they_stand() {
        let check = |url: &str, expected: &str, feed: Option<&str>| {
            let mut secrets = Secrets::default();
            let template = without_secrets(url, &mut secrets);
            assert_eq!(template.print(Style::Url), expected, "{url}");
            assert_eq!(secrets.feed().as_deref(), feed, "{url}");
            assert_eq!(has_secret(url), feed.is_some(), "{url}");
        };
        check("/a", "/a", None);
        check("/a?b=1&token=", "/a?b=1&token=", None);
        check(
            "/a?x=1&access_token=1%2B2=&y=1",
            "/a?x=1&access_token={{access_token}}&y=1",
            Some("access_token\n\"1%2B2=\"\n"),
        );
        check(
            "/a?api%5Fkey=é",
            "/a?api%5Fkey={{api_key}}",
            Some("api_key\n\"%C3%A9\"\n"),
        );
    }
}
