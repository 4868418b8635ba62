//! Flows from lines copied by browsers "as cURL".

mod flags;
mod words;

use crate::browser::{form_fields, is_kept, split_url, split_user};
use crate::call::{Body, Call, Template, is_form};
use crate::secret::Secrets;
use crate::{LeftOut, Taken, json, query};
use flags::{Said, said};
use words::commands;

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
        let (url, user) = split_user(&url);
        let (origin, path) =
            split_url(&url).ok_or_else(|| at(format!("`{url}` is no address of HTTP")))?;
        if let Err(why) = taken.expect_origin(origin) {
            taken.left_out.push(LeftOut::new(place, why));
            continue;
        }
        let mut call = call(said, path, &mut secrets);
        if let Some((name, password)) = user.filter(|_| call.user.is_none()) {
            call.user = Some(secrets.login(&name, &password));
        }
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
    let method = match said.is_head {
        true => "HEAD",
        false if said.is_upload => "PUT",
        false if has_body || said.has_form => "POST",
        false => "GET",
    };
    call.method = said
        .method
        .unwrap_or_else(|| method.to_owned())
        .to_ascii_uppercase();
    call.url = query::without_secrets(&path, secrets);
    let content_type = (said.headers.iter())
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"))
        .map(|(_, value)| value.to_ascii_lowercase());
    let has_content_type = content_type.is_some();
    let kind = content_type.unwrap_or_else(|| match said.is_json {
        true => "application/json".to_owned(),
        false => "application/x-www-form-urlencoded".to_owned(),
    });
    for (name, value) in said.headers {
        match name.to_ascii_lowercase().as_str() {
            "cookie" => call.cookies.extend(cookies(&value, secrets)),
            _ if !is_kept(&name) => {}
            _ => {
                let value = secrets.template(&name, &value);
                call.headers.push((name, value));
            }
        }
    }
    if said.is_json && !has_content_type {
        call.headers
            .push(("Content-Type".to_owned(), Template::text(&kind)));
    }
    if let Some(user) = said.user {
        let (name, password) = user.split_once(':').unwrap_or((&user, ""));
        call.user = Some(secrets.login(name, password));
    }
    if has_body {
        call.body = body(&data, &kind, secrets);
        call.settle_content_type(&kind);
    }
    call
}

fn body(data: &str, kind: &str, secrets: &mut Secrets) -> Body {
    if data.is_empty() {
        return Body::None;
    }
    if let Some(json) = json::without_secrets(data, secrets) {
        return Body::Text(json);
    }
    if !is_form(kind) {
        return Body::Text(Template::text(data));
    }
    let Some(fields) = form_fields(data) else {
        return Body::Text(query::form_without_secrets(data, secrets));
    };
    let fields = fields.into_iter().map(|(name, value)| {
        let value = secrets.template(&name, &value);
        (name, value)
    });
    Body::Form(fields.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn flags_are_read_as_curl_reads_them() {
        let check = |flags: &str, expected: &str, listed: &[&str]| {
            let text = format!("curl http://a.test/x {flags}");
            let taken = of_curl(&text, true).expect("a flow");
            let flow = &taken.flows[0].text;
            assert!(flow.starts_with(expected), "{flags}: {flow}");
            let why: Vec<&str> = taken.left_out.iter().map(|left| &*left.why).collect();
            assert_eq!(why, listed, "{flags}");
        };
        let get = "GET {{base_url}}/x\n";
        check("-sX DELETE", "DELETE {{base_url}}/x\n", &[]);
        check("-sSXPUT", "PUT {{base_url}}/x\n", &[]);
        check("-o out -m 5 --retry 3", get, &[]);
        check("-x proxy:3128", get, &["-x is not taken over"]);
        check("--cacert ca.pem", get, &["--cacert is not taken over"]);
        check(
            "-F password=hush",
            "POST {{base_url}}/x\n",
            &["-F password=…: write the field into [Multipart] of the flow"],
        );
        check(
            "-T file",
            "PUT {{base_url}}/x\n",
            &["-T: write the file's content into the flow"],
        );
        check(
            "--data-urlencode text@file",
            "POST {{base_url}}/x\n",
            &["--data-urlencode text@file: write the file's content into the flow"],
        );
        check(
            "--oauth2-bearer t0k",
            "GET {{base_url}}/x\nAuthorization: {{authorization}}\n",
            &[],
        );
        check("-b jar.txt", get, &["-b is not taken over"]);
    }

    #[test]
    fn name_and_password_in_an_address_are_sent_and_hidden() {
        let text = "curl http://ann:hu%40sh@a.test/x\ncurl http://a.test/y";
        let taken = of_curl(text, true).expect("a flow");
        assert_eq!(taken.origin.as_deref(), Some("http://a.test"));
        let flow = &taken.flows[0];
        let expected = "GET {{base_url}}/x\n[BasicAuth]\nann: {{password}}\n\nGET {{base_url}}/y\n";
        assert_eq!(flow.text, expected);
        assert_eq!(flow.feed.as_deref(), Some("password\n\"hu@sh\"\n"));
    }

    #[test]
    fn data_that_is_no_form_is_sent_as_written() {
        let flow = |data: &str| {
            let text = format!("curl http://a.test/ {data}");
            of_curl(&text, true).expect("a flow").flows.remove(0).text
        };
        let form = "Content-Type: application/x-www-form-urlencoded\n";
        let text = flow("-d '{\"a\": 1}'");
        assert!(text.contains(form) && text.contains("\"a\": 1"), "{text}");
        let text = flow("-d 'hello'");
        assert!(text.ends_with(&format!("{form}`hello`\n")), "{text}");
        let text = flow("--json '[1]' -H 'Content-Type: application/hal+json'");
        assert!(!text.contains("application/json"), "{text}");
    }
}
