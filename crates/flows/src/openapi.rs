//! Flows from an OpenAPI 3 description: one for each operation, with the examples given.

use serde_json::{Map, Value};

use crate::browser::{split_url, split_user};
use crate::call::{Body, Call, Piece, Template, is_of_url, percent_encoded};
use crate::json;
use crate::plan::Plan;
use crate::secret::{Secrets, is_secret, unique};
use crate::{Flow, LeftOut, Taken, call, is_safe};

/// Methods allowed in a path of the description.
const METHODS: [&str; 7] = ["get", "head", "options", "post", "put", "patch", "delete"];
/// Greatest depth of nested schemas followed; a type may hold itself.
const DEPTH_MAX: usize = 8;
/// Stand-in for a secret until a person fills in the real one.
const PLACEHOLDER: &str = "CHANGE-ME";

/// Returns a flow for each operation, all with the same weight. Those that change data are off
/// without `writes`. Values without an example are made from their type and listed.
///
/// # Errors
/// Where the text is neither JSON nor YAML (with line and column), or describes no paths.
pub fn of_openapi(text: &str, writes: bool) -> Result<Taken, String> {
    let document: Value = match serde_json::from_str(text) {
        Ok(document) => document,
        Err(_) => serde_yaml_ng::from_str(text)
            .map_err(|error| format!("this is neither JSON nor YAML: {error}"))?,
    };
    let paths = document["paths"]
        .as_object()
        .ok_or("this description has no `paths`")?;
    let (server, _) = split_user(document["servers"][0]["url"].as_str().unwrap_or_default());
    let (origin, prefix) = match split_url(&server) {
        Some((origin, prefix)) => (Some(origin.to_owned()), prefix),
        None => (None, server.clone()),
    };
    let mut taken = Taken {
        origin,
        plan: Plan::of_one_user(),
        ..Taken::default()
    };
    for (path, item) in paths {
        for (method, operation) in METHODS
            .iter()
            .filter_map(|name| Some((name, item.get(name)?)))
        {
            let place = format!("{} {path}", method.to_ascii_uppercase());
            let mut writer = Operation {
                document: &document,
                place,
                secrets: Secrets::default(),
                left_out: Vec::new(),
            };
            let path = format!("{}{path}", prefix.trim_end_matches('/'));
            let call = writer.call(method, &path, item, operation);
            let is_on = writes || is_safe(&call.method);
            let name = operation["operationId"].as_str().unwrap_or(&writer.place);
            let base = call::name_of(name, '-');
            let name = unique(&base, |name| {
                taken.flows.iter().any(|flow| flow.name == name)
            });
            let feed = writer.secrets.feed();
            taken.flows.push(Flow {
                name,
                text: call.print(),
                has_secrets: feed.is_some(),
                feed,
                weight: 1,
                is_on,
            });
            taken.left_out.append(&mut writer.left_out);
        }
    }
    Ok(taken)
}

/// What writes one operation.
struct Operation<'a> {
    document: &'a Value,
    /// Method and path as in the description.
    place: String,
    secrets: Secrets,
    left_out: Vec<LeftOut>,
}

impl<'a> Operation<'a> {
    fn call(&mut self, method: &str, path: &str, item: &'a Value, operation: &'a Value) -> Call {
        let mut call = Call {
            method: method.to_ascii_uppercase(),
            status: expected(operation),
            comments: operation["summary"]
                .as_str()
                .map(str::to_owned)
                .into_iter()
                .collect(),
            ..Call::default()
        };
        let (mut path, mut query) = (path.to_owned(), Vec::new());
        let mut secret_query = Vec::new();
        for parameter in self.parameters(item, operation) {
            let name = parameter["name"].as_str().unwrap_or_default();
            let is_needed = parameter["required"] == true || example(parameter).is_some();
            match parameter["in"].as_str().unwrap_or_default() {
                "path" => {
                    let value = self.value(name, parameter);
                    path = path.replace(&format!("{{{name}}}"), &value);
                }
                "query" if is_needed && is_secret(name) => secret_query.push(name),
                "query" if is_needed => {
                    let value = self.value(name, parameter);
                    query.push(format!("{}={}", percent(name), percent(&value)));
                }
                "header" if is_needed => {
                    let value = match is_secret(name) {
                        true => self.secret(name),
                        false => Template::text(&self.value(name, parameter)),
                    };
                    call.headers.push((name.to_owned(), value));
                }
                _ => {}
            }
        }
        let query = match query.is_empty() {
            true => String::new(),
            false => format!("?{}", query.join("&")),
        };
        call.url = Template::text(&(path + &query));
        let mut separator = if query.is_empty() { '?' } else { '&' };
        for name in secret_query {
            self.secret_in_query(name, separator, &mut call);
            separator = '&';
        }
        self.security(operation, separator, &mut call);
        self.body(operation, &mut call);
        call
    }

    /// Returns the parameters of the operation and of the whole path; the operation's own win.
    fn parameters(&self, item: &'a Value, operation: &'a Value) -> Vec<&'a Value> {
        let mut all: Vec<&'a Value> = Vec::new();
        for holder in [operation, item] {
            for parameter in holder["parameters"].as_array().into_iter().flatten() {
                let parameter = self.resolved(parameter);
                let is_same = |known: &&Value| {
                    known["name"] == parameter["name"] && known["in"] == parameter["in"]
                };
                if !all.iter().any(is_same) {
                    all.push(parameter);
                }
            }
        }
        all
    }

    /// What a `$ref` within the document points to; the value itself without one.
    fn resolved(&self, value: &'a Value) -> &'a Value {
        let mut value = value;
        for _ in 0..DEPTH_MAX {
            let Some(pointer) = value["$ref"]
                .as_str()
                .and_then(|text| text.strip_prefix('#'))
            else {
                return value;
            };
            value = self.document.pointer(pointer).unwrap_or(&Value::Null);
        }
        value
    }

    /// Returns the example of a parameter, or else a value of the type, and lists the latter.
    fn value(&mut self, name: &str, parameter: &'a Value) -> String {
        let schema = self.resolved(&parameter["schema"]);
        let known = example(parameter).or_else(|| example(schema));
        let value = known.cloned().unwrap_or_else(|| {
            let made = self.made(schema, 0);
            let why = format!("`{name}` has no example; {made} is sent");
            self.left_out.push(LeftOut::new(self.place.clone(), why));
            made
        });
        plain(&value)
    }

    /// Returns a value of a schema: the example, else one made from the type.
    fn made(&self, schema: &'a Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if let Some(example) = example(schema) {
            return example.clone();
        }
        if depth > DEPTH_MAX {
            return Value::Null;
        }
        let parts = ["allOf", "oneOf", "anyOf"];
        if let Some(parts) = parts.iter().find_map(|key| schema[key].as_array()) {
            let is_all = schema["allOf"].is_array();
            let taken = if is_all { parts.len() } else { 1 };
            let mut fields = Map::new();
            for part in parts.iter().take(taken) {
                match self.made(part, depth + 1) {
                    Value::Object(more) => fields.extend(more),
                    other => return other,
                }
            }
            return Value::Object(fields);
        }
        match schema["type"].as_str() {
            Some("integer" | "number") => Value::from(1),
            Some("boolean") => Value::from(true),
            Some("array") => Value::from(vec![self.made(&schema["items"], depth + 1)]),
            Some("string") => Value::from("example"),
            _ => {
                let fields = schema["properties"].as_object().into_iter().flatten();
                let made = |(name, field)| {
                    let schema: &'a Value = field;
                    let name: &String = name;
                    (name.clone(), self.made(schema, depth + 1))
                };
                Value::Object(fields.map(made).collect())
            }
        }
    }

    fn body(&mut self, operation: &'a Value, call: &mut Call) {
        let body = self.resolved(&operation["requestBody"]);
        let Some(contents) = body["content"].as_object() else {
            return;
        };
        let is_form = |kind: &str| kind.starts_with("application/x-www-form-urlencoded");
        let known = |(kind, _): &(&String, &Value)| kind.contains("json") || is_form(kind);
        let Some((kind, content)) = contents.iter().find(known) else {
            let kinds: Vec<&str> = contents.keys().map(String::as_str).collect();
            let why = format!("its body ({}) is not taken over", kinds.join(", "));
            self.left_out.push(LeftOut::new(self.place.clone(), why));
            return;
        };
        let value = match example(content) {
            Some(example) => example.clone(),
            None => self.made(&content["schema"], 0),
        };
        if is_form(kind) {
            let fields = value.as_object().into_iter().flatten();
            let field = |(name, value): (&String, &Value)| {
                let value = plain(value);
                let value = match is_secret(name) && !value.is_empty() {
                    true => Template::variable(&self.secrets.ask_for(name, &value)),
                    false => Template::text(&value),
                };
                (name.clone(), value)
            };
            call.body = Body::Form(fields.map(field).collect());
            return;
        }
        call.headers
            .push(("Content-Type".to_owned(), Template::text(kind)));
        let text = value.to_string();
        // Values made from a type are all alike: each secret has a column of its own.
        let template = json::template(&text, |leaf, letters| {
            leaf.is_secret
                .then(|| self.secrets.ask_for(&leaf.field, letters))
        });
        call.body = Body::Text(template.unwrap_or_else(|| Template::text(&text)));
    }

    /// Returns a column of the feed to be filled in by a person.
    fn secret(&mut self, name: &str) -> Template {
        let why = format!("`{name}` is a secret; write it into the feed in place of {PLACEHOLDER}");
        self.left_out.push(LeftOut::new(self.place.clone(), why));
        Template::variable(&self.secrets.ask_for(name, PLACEHOLDER))
    }

    /// Adds a secret of the query behind `separator`.
    fn secret_in_query(&mut self, name: &str, separator: char, call: &mut Call) {
        let begin = format!("{separator}{}=", percent(name));
        call.url.0.push(Piece::Text(begin));
        call.url.0.extend(self.secret(name).0);
    }

    /// Adds what the first security requirement of the operation, or of the document, asks for.
    /// A key in the query stands behind `separator`.
    fn security(&mut self, operation: &'a Value, separator: char, call: &mut Call) {
        let own = operation["security"].as_array();
        let all = own.or_else(|| self.document["security"].as_array());
        let first = all.and_then(|all| all.first()).and_then(Value::as_object);
        for name in first.into_iter().flat_map(Map::keys) {
            let scheme = self.resolved(&self.document["components"]["securitySchemes"][name]);
            let key = scheme["name"].as_str().unwrap_or(name);
            match (scheme["type"].as_str(), scheme["in"].as_str()) {
                (Some("apiKey"), Some("query")) => self.secret_in_query(key, separator, call),
                (Some("apiKey"), Some("cookie")) => {
                    let value = self.secret(key);
                    call.cookies.push((key.to_owned(), value));
                }
                (Some("apiKey"), _) => {
                    let value = self.secret(key);
                    call.headers.push((key.to_owned(), value));
                }
                (Some("http"), _) if scheme["scheme"] == "basic" => {
                    call.user = Some((Template::text("user"), self.secret("password")));
                }
                _ => {
                    let mut value = Template::text("Bearer ");
                    value.0.extend(self.secret("token").0);
                    call.headers.push(("Authorization".to_owned(), value));
                }
            }
        }
    }
}

/// Returns the example of a parameter, a content or a schema, in any of the notations.
fn example(value: &Value) -> Option<&Value> {
    let named = value["examples"]
        .as_object()
        .and_then(|all| all.values().next());
    [
        value.get("example"),
        named.and_then(|example| example.get("value")),
        value["examples"].as_array().and_then(|all| all.first()),
        value.get("default"),
        value["enum"].as_array().and_then(|all| all.first()),
        value.get("const"),
    ]
    .into_iter()
    .flatten()
    .next()
}

/// Returns a value as written in a URL or form: a text without quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns the first status of success in the operation's responses.
fn expected(operation: &Value) -> Option<u16> {
    let statuses = operation["responses"].as_object()?.keys();
    let mut statuses = statuses.filter_map(|status| status.parse::<u16>().ok());
    statuses.find(|status| (200..400).contains(status))
}

/// Returns a name or value of a query with all reserved characters encoded.
fn percent(text: &str) -> String {
    percent_encoded(text, |letter| is_of_url(letter) && !"&=+?".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "\
openapi: 3.0.3
servers: [{url: 'https://shop.test/v1'}]
security: [{key: []}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
    get:
      operationId: getOrder
      parameters: [{name: fields, in: query, example: 'a&b'}, {name: page, in: query}]
      responses: {'404': {}, '200': {}}
  /orders:
    post:
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Order'}
      responses: {'201': {}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Api-Key}}
  schemas:
    Order:
      type: object
      properties:
        name: {type: string, example: tea}
        count: {type: integer}
        parts: {type: array, items: {$ref: '#/components/schemas/Order'}}
";

    #[test]
    fn operations_become_flows_with_their_examples() {
        let taken = of_openapi(SHOP, false).expect("flows");
        assert_eq!(taken.origin.as_deref(), Some("https://shop.test"));
        let flow = |name: &str| {
            let found = taken.flows.iter().find(|flow| flow.name == name);
            found.unwrap_or_else(|| panic!("{name} of {:?}", taken.flows))
        };
        let get = flow("getorder");
        assert_eq!(
            get.text,
            "GET {{base_url}}/v1/orders/1?fields=a%26b\nX-Api-Key: {{x_api_key}}\nHTTP 200\n"
        );
        assert_eq!(get.feed.as_deref(), Some("x_api_key\n\"CHANGE-ME\"\n"));
        let post = flow("post-orders");
        assert!(
            !post.is_on && post.text.contains("\\u{7b}\"count\":1,\"name\":\"tea\""),
            "{}",
            post.text
        );
        let listed: Vec<&str> = taken
            .left_out
            .iter()
            .map(|left| left.why.as_str())
            .collect();
        assert!(
            listed.contains(&"`id` has no example; 1 is sent"),
            "{listed:?}"
        );
    }

    #[test]
    fn secrets_that_nobody_knows_yet_have_columns_of_their_own() {
        let both = SHOP
            .replace("[{key: []}]", "[{key: [], session: []}]")
            .replace(
                "securitySchemes: {",
                "securitySchemes: {session: {type: apiKey, in: cookie, name: sid}, ",
            );
        let taken = of_openapi(&both, false).expect("flows");
        let feed = taken.flows[0].feed.as_deref().unwrap_or_default();
        let (names, values) = feed.split_once('\n').expect("two lines");
        let mut names: Vec<&str> = names.split(',').collect();
        names.sort_unstable();
        assert_eq!(names, ["sid", "x_api_key"]);
        assert_eq!(values, "\"CHANGE-ME\",\"CHANGE-ME\"\n");
    }

    #[test]
    fn a_secret_made_from_a_type_is_in_no_other_field() {
        let text = "\
openapi: 3.0.3
paths:
  /users:
    post:
      requestBody:
        content:
          application/json:
            schema:
              properties: {name: {type: string}, password: {type: string}, token: {type: string}}
      responses: {'201': {}}
";
        let flow = &of_openapi(text, true).expect("a flow").flows[0];
        assert!(
            flow.text.contains(
                "\"name\":\"example\",\"password\":\"{{password}}\",\"token\":\"{{token}}\""
            ),
            "{}",
            flow.text
        );
        let feed = flow.feed.as_deref();
        assert_eq!(feed, Some("password,token\n\"example\",\"example\"\n"));
    }

    #[test]
    fn what_describes_no_paths_is_refused() {
        assert!(of_openapi("openapi: 3.0.0\n", false).is_err());
        assert!(of_openapi("a: [", false).is_err());
    }
}
