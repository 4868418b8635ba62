//! What a tab asked for, as a `.har` file: the events of the network behind a browser's own
//! export, with the bodies of the responses.

use serde_json::{Value, json};

use crate::Browser;

/// The requests of a tab, in order.
#[derive(Debug, Default)]
pub struct Walk {
    requests: Vec<Asked>,
}

#[derive(Debug)]
struct Asked {
    /// The browser's number; redirects of a request have the same.
    id: String,
    /// Time of the request, seconds since 1970.
    at: f64,
    request: Value,
    /// `null` until the response came.
    response: Value,
    /// Answer to [`Walk::add`]; `null` for none.
    body: Value,
    is_finished: bool,
}

impl Walk {
    /// Starts recording what the browser's tab asks for.
    pub fn begin(browser: &mut Browser) -> Walk {
        browser.recorded = Some(Vec::new());
        browser.call("Network.enable", json!({}));
        Walk::default()
    }

    /// Adds what came since the last call. To be called before the tab leaves a page, since the
    /// browser drops the bodies of a page that is left.
    pub fn add(&mut self, browser: &mut Browser) {
        let events = browser.recorded.replace(Vec::new()).unwrap_or_default();
        for event in &events {
            self.event(&event["method"], &event["params"]);
        }
        for asked in &mut self.requests {
            if asked.is_finished && asked.body.is_null() {
                let request = json!({ "requestId": asked.id });
                let answer = browser.answer("Network.getResponseBody", request);
                // An error for what is no part of a page, such as its icon.
                asked.body = match answer["result"].is_null() {
                    true => json!({}),
                    false => answer["result"].clone(),
                };
            }
        }
    }

    fn event(&mut self, method: &Value, params: &Value) {
        let id = params["requestId"].as_str().unwrap_or_default();
        let known = self.requests.iter_mut().rfind(|asked| asked.id == id);
        match (method.as_str(), known) {
            (Some("Network.requestWillBeSent"), known) => {
                if let Some(redirected) = known {
                    redirected.response = params["redirectResponse"].clone();
                }
                self.requests.push(Asked {
                    id: id.to_owned(),
                    at: params["wallTime"].as_f64().unwrap_or(0.0),
                    request: params["request"].clone(),
                    response: Value::Null,
                    body: Value::Null,
                    is_finished: false,
                });
            }
            (Some("Network.responseReceived"), Some(asked)) => {
                asked.response = params["response"].clone();
            }
            (Some("Network.loadingFinished"), Some(asked)) => asked.is_finished = true,
            _ => {}
        }
    }

    /// Returns the record as the text of a `.har` file (version 1.2).
    pub fn har(&self) -> String {
        let entries: Vec<Value> = self.requests.iter().map(Asked::entry).collect();
        let creator = json!({ "name": "chromium", "version": "0" });
        let log = json!({ "version": "1.2", "creator": creator, "pages": [], "entries": entries });
        format!("{:#}\n", json!({ "log": log }))
    }
}

impl Asked {
    fn entry(&self) -> Value {
        let mut request = json!({
            "method": self.request["method"],
            "url": self.request["url"],
            "httpVersion": "HTTP/1.1",
            "headers": headers(&self.request["headers"]),
        });
        if let Some(text) = self.request["postData"].as_str() {
            let kind = header(&self.request["headers"], "content-type");
            request["postData"] = json!({ "mimeType": kind, "text": text });
        }
        let mut content = json!({
            "mimeType": self.response["mimeType"],
            "text": self.body["body"],
        });
        if self.body["base64Encoded"] == true {
            content["encoding"] = json!("base64");
        }
        json!({
            "startedDateTime": self.at,
            "request": request,
            "response": {
                "status": self.response["status"],
                "headers": headers(&self.response["headers"]),
                "content": content,
            },
        })
    }
}

/// Names and values; a repeated header has a line for each value.
fn headers(of: &Value) -> Vec<Value> {
    let pairs = of.as_object().into_iter().flatten();
    let lines = pairs.flat_map(|(name, values)| {
        let values = values.as_str().unwrap_or_default().lines();
        values.map(move |value| json!({ "name": name, "value": value }))
    });
    lines.collect()
}

fn header<'a>(of: &'a Value, wanted: &str) -> &'a str {
    let mut pairs = of.as_object().into_iter().flatten();
    let found = pairs.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    found
        .and_then(|(_, value)| value.as_str())
        .unwrap_or_default()
}
