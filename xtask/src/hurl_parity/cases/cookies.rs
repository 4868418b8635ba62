//! Cookies set once or twice, and the cookies sent back.

use super::{Case, answer};
use crate::hurl_parity::random::Random;

const VALUES: [&str; 12] = [
    "a=1", "a=2", "b=3", "a=", "a", "=x", "a=b=c", "a=\"q\"", "a = 1 ", "A=1", "a=1,2", "a=x y",
];
const ATTRIBUTES: [&str; 27] = [
    "",
    "; Path=/",
    "; Path=§",
    "; Path=§/deep",
    "; Path=§/de",
    "; Path=/other",
    "; Path=",
    "; Path=x",
    "; path=/",
    "; Max-Age=0",
    "; Max-Age=-1",
    "; Max-Age=60",
    "; Max-Age=x",
    "; Max-Age=\"60\"",
    "; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
    "; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
    "; Expires=Wednesday, 21-Oct-15 07:28:00 GMT",
    "; Expires=Wed Oct 21 07:28:00 2015",
    "; Expires=???",
    "; Max-Age=60; Expires=Wed, 21 Oct 2015 07:28:00 GMT",
    "; HttpOnly",
    "; Secure",
    "; SameSite=Lax",
    "; Domain=127.0.0.1",
    "; Domain=example.org",
    "; Path=/; HttpOnly",
    ";",
];
const TARGETS: [&str; 3] = ["§/echo", "§/deep/echo", "§/deeper/echo"];
const QUERIES: [&str; 12] = [
    "cookie \"a\" == \"1\"",
    "cookie \"a\" exists",
    "cookie \"a[Value]\" exists",
    "cookie \"a[Path]\" exists",
    "cookie \"a[Max-Age]\" == 60",
    "cookie \"a[Max-Age]\" exists",
    "cookie \"a[Expires]\" exists",
    "cookie \"a[Expires]\" isDate",
    "cookie \"a[Secure]\" exists",
    "cookie \"a[HttpOnly]\" == true",
    "cookie \"a[SameSite]\" == \"Lax\"",
    "cookie \"a[Domain]\" exists",
];

pub(super) fn all(random: &mut Random, count: usize) -> Vec<Case> {
    let mut cases = Vec::new();
    for value in VALUES {
        for attribute in ATTRIBUTES {
            let set = answer(200, &format!("Set-Cookie: {value}{attribute}"), "");
            for target in TARGETS {
                let text = format!("GET {set}\nHTTP 200\n\nGET {target}\nHTTP 200\n");
                cases.push(Case::new(format!("cookie {attribute}"), text));
            }
        }
    }
    let mut cases = random.some(cases, count);
    for attribute in ATTRIBUTES {
        let set = answer(200, &format!("Set-Cookie: a=1{attribute}"), "");
        for query in QUERIES {
            let text = format!("GET {set}\nHTTP 200\n[Asserts]\n{query}\n");
            cases.push(Case::new(format!("query {query}"), text));
        }
    }
    for _ in 0..count / 4 {
        let mut text = String::new();
        for _ in 0..2 {
            let set = format!(
                "Set-Cookie: {}{}",
                random.of(&VALUES),
                random.of(&ATTRIBUTES)
            );
            text.push_str(&format!("GET {}\nHTTP 200\n\n", answer(200, &set, "")));
        }
        text.push_str(&format!("GET {}\nHTTP 200\n", random.of(&TARGETS)));
        cases.push(Case::new("two cookies", text));
    }
    cases
}
