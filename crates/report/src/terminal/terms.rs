//! The terms of the balance: name, letter and phrase for the page.

use breakdown::Balance;
use words::{Phrase, phrase};

/// One exclusive term. `receive` is not among them, since it is part of the queue.
pub(crate) struct Term {
    /// Letter of the term's part of the bar.
    pub(crate) letter: char,
    pub(crate) name: Phrase,
    /// Ends the sentence "Most of the time goes into …".
    pub(crate) phrase: Phrase,
    /// Number in the 256-colour table.
    pub(crate) colour: u8,
    pub(crate) value: fn(&Balance) -> f64,
}

/// All terms, in the order of a request's course.
pub(crate) const TERMS: [Term; 12] = [
    Term {
        letter: 'Q',
        name: phrase!("queue"),
        phrase: phrase!("waiting for a free thread of the server (queue)"),
        colour: 179,
        value: |balance| balance.queue,
    },
    Term {
        letter: 'V',
        name: phrase!("gvl wait"),
        phrase: phrase!("waiting for Ruby's lock, held by other threads (gvl wait)"),
        colour: 174,
        value: |balance| balance.gvl_wait,
    },
    Term {
        letter: 'G',
        name: phrase!("gc"),
        phrase: phrase!("collecting garbage"),
        colour: 139,
        value: |balance| balance.gc,
    },
    Term {
        letter: 'S',
        name: phrase!("sql"),
        phrase: phrase!("SQL"),
        colour: 110,
        value: |balance| balance.sql,
    },
    Term {
        letter: 'H',
        name: phrase!("http"),
        phrase: phrase!("calling other services over HTTP"),
        colour: 116,
        value: |balance| balance.http,
    },
    Term {
        letter: 'L',
        name: phrase!("lock"),
        phrase: phrase!("waiting for a Mutex, Queue or Monitor of the app (lock)"),
        colour: 167,
        value: |balance| balance.lock,
    },
    Term {
        letter: 'Z',
        name: phrase!("sleep"),
        phrase: phrase!("sleep"),
        colour: 146,
        value: |balance| balance.sleep,
    },
    Term {
        letter: 'I',
        name: phrase!("other io"),
        phrase: phrase!("I/O that is neither SQL nor HTTP"),
        colour: 152,
        value: |balance| balance.other_io,
    },
    Term {
        letter: 'C',
        name: phrase!("cpu"),
        phrase: phrase!("running Ruby code (cpu)"),
        colour: 114,
        value: |balance| balance.cpu,
    },
    Term {
        letter: 'W',
        name: phrase!("cpu wait"),
        phrase: phrase!("waiting for a core of this machine (cpu wait)"),
        colour: 180,
        value: |balance| balance.cpu_wait,
    },
    Term {
        letter: 'R',
        name: phrase!("respond"),
        phrase: phrase!("sending the answer (respond)"),
        colour: 187,
        value: |balance| balance.respond,
    },
    Term {
        letter: '?',
        name: phrase!("unaccounted"),
        phrase: phrase!("something the events missed (unaccounted)"),
        colour: 250,
        value: |balance| balance.unaccounted,
    },
];

/// Name of queue and respond where the two cannot be separated.
pub(super) const QUEUE_AND_RESPOND: Phrase = phrase!("queue+respond");

impl Term {
    /// Returns the term's name; `same_host` says whether app and generator share a host.
    pub(crate) fn name_on(&self, same_host: bool) -> Phrase {
        match self.letter {
            'Q' if !same_host => QUEUE_AND_RESPOND,
            _ => self.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The HTML page's table, whose terms must be drawn and named as here.
    const WEB: &str = include_str!("../../../../web/src/lib/balance.ts");

    /// Returns the string behind `key: "` in a line of the table.
    fn value<'a>(line: &'a str, key: &str) -> &'a str {
        let start = format!("{key}: \"");
        let (_, rest) = line.split_once(&start).expect(line);
        rest.split('"').next().expect(line)
    }

    #[test]
    fn both_pages_have_the_same_terms_in_the_same_order() {
        let web: Vec<(&str, &str)> = WEB
            .lines()
            .filter(|line| line.trim_start().starts_with("{ term: "))
            .map(|line| (value(line, "letter"), value(line, "name")))
            .collect();
        let letters = TERMS.map(|term| term.letter.to_string());
        let names = TERMS.map(|term| term.name.english());
        let here: Vec<(&str, &str)> = letters
            .iter()
            .zip(&names)
            .map(|(letter, name)| (letter.as_str(), *name))
            .collect();
        assert_eq!(web, here);
        for line in WEB
            .lines()
            .filter(|line| line.trim_start().starts_with("{ term: "))
        {
            assert_eq!(value(line, "term"), value(line, "name").replace(' ', "_"));
        }
    }
}
