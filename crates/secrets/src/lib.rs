//! Says by the name of a variable, a header or a field whether the value is a secret.
//!
//! All pages, messages and files that hide values ask here, so that what one hides no other shows.
//! A name is no proof: in doubt a value is hidden, and words in which the letters mean something
//! else are listed.

/// Letters of names of secrets, at any place.
const CERTAIN: [&str; 18] = [
    "passw",
    "passcode",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "csrf",
    "xsrf",
    "authori",
    "bearer",
    "credential",
    "sessid",
    "signature",
    "assertion",
    "private",
    "apikey",
    "api_key",
    "accesskey",
];

/// Letters of names of secrets, and of [`HARMLESS`] words.
const LIKELY: [&str; 4] = ["pass", "key", "auth", "session"];

/// Words with letters of [`LIKELY`] in names of other things.
const HARMLESS: [&str; 29] = [
    "author",
    "bypass",
    "compass",
    "passage",
    "passenger",
    "passing",
    "passive",
    "passthrough",
    "pass_through",
    "donkey",
    "hockey",
    "hotkey",
    "jockey",
    "keyboard",
    "keycode",
    "keydown",
    "keyframe",
    "keynote",
    "keypress",
    "keystroke",
    "keyup",
    "keyword",
    "monkey",
    "turkey",
    "whiskey",
    "proxy_authenticate",
    "www_authenticate",
    "session_store",
    "session_timeout",
];

/// Whole words of names of secrets. As letters `pin` is a part of `shipping` too.
const WORDS: [&str; 9] = [
    "card", "cvc", "cvv", "jwt", "otp", "pin", "sid", "sig", "ssn",
];

/// Returns whether a variable, a header or a field of the name holds a secret.
pub fn is_secret(name: &str) -> bool {
    let mut name = name.to_ascii_lowercase().replace('-', "_");
    let has = |name: &str, parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is_word = |word: &str| WORDS.contains(&word);
    let mut words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    if has(&name, &CERTAIN) || words.any(is_word) {
        return true;
    }
    for word in HARMLESS {
        name = name.replace(word, " ");
    }
    has(&name, &LIKELY)
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn names_of_secrets_are_known() {
        let names = "PASS PASSWORD PASSWD PGPASSWORD MYSQL_PWD DBPASS DB_PASS SMTP_PASSPHRASE \
             SECRET_KEY_BASE RAILS_MASTER_KEY API_KEY X-Api-Key apikey apiKeyId AWS_SECRET_ACCESS_KEY \
             SSHKEY KEY KEYS AUTH_TOKEN GITHUB_TOKEN OAUTH_BEARER Authorization X-CSRF-Token \
             X-XSRF-TOKEN authenticity_token GOOGLE_APPLICATION_CREDENTIALS X-Session-Id JSESSIONID \
             PHPSESSID PRIVATE_PEM Ocp-Apim-Subscription-Key user[pwd] client.sig card[cvc] otp pin \
             COMPASSWORD COMPASS_API_KEY BYPASS_TOKEN author_password";
        for name in names.split_whitespace() {
            assert!(is_secret(name), "{name}");
        }
    }

    #[test]
    fn names_of_other_things_stay_visible() {
        let names = "COMPASS BYPASS_CACHE PASSENGER_APP_ENV proxy-pass-through passive RUBYOPT \
             RAILS_ENV WEB_CONCURRENCY DATABASE_URL MALLOC_ARENA_MAX SESSION_STORE author \
             post[author_id] shipping keyword inside discard monkey Keep-Alive WWW-Authenticate \
             Content-Type name id a";
        for name in names.split_whitespace() {
            assert!(!is_secret(name), "{name}");
        }
    }
}
