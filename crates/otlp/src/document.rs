//! The request: metrics of one load, in OTLP's JSON.
//!
//! 64-bit integers are texts there, and names are in lowerCamelCase. Sums are cumulative, from the
//! beginning of the measured part to its end: Prometheus takes nothing else. Names follow
//! OpenTelemetry's conventions for HTTP clients; what only a load has begins with `hakaru.load.`.

use hdrhistogram::Histogram;
use load_report::{StepLabel, View};
use recording::Outcome;
use scenario::BaseUrl;
use serde_json::{Map, Value, json};

use crate::exponential;

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;
const NANOS_PER_MS: u64 = 1_000_000;

/// Returns all figures as the body of a request to a receiver; times are in seconds.
pub fn document(view: &View<'_>, resource: &[(String, String)]) -> String {
    let resource = resource.iter();
    let resource: Vec<Value> = resource
        .map(|(key, value)| attribute(key, json!({ "stringValue": value })))
        .collect();
    let document = json!({
        "resourceMetrics": [{
            "resource": { "attributes": resource },
            "scopeMetrics": [{
                "scope": { "name": "hakaru", "version": env!("CARGO_PKG_VERSION") },
                "metrics": Metrics::new(view).all(),
            }],
        }],
    });
    document.to_string()
}

struct Metrics<'a> {
    view: &'a View<'a>,
    /// Nanoseconds since 1970.
    from: String,
    to: String,
}

impl<'a> Metrics<'a> {
    fn new(view: &'a View<'a>) -> Metrics<'a> {
        let began = u64::try_from(view.started_at_unix_ms).unwrap_or(0) * NANOS_PER_MS;
        let from = began + view.plan.warmup.0;
        Metrics {
            view,
            from: from.to_string(),
            to: (from + view.measured.window.length().0).to_string(),
        }
    }

    fn all(&self) -> Vec<Value> {
        [self.times(), self.counts(), self.totals()].concat()
    }

    fn times(&self) -> Vec<Value> {
        let figures = &self.view.measured.figures;
        let steps = self.view.steps.iter().zip(&figures.steps);
        let server = server(self.view.url);
        let by_step = steps.map(|(label, step)| {
            let attributes = [of_step(label), server.clone()].concat();
            self.histogram(attributes, &step.latency)
        });
        let mut all = vec![json!({
            "name": "http.client.request.duration",
            "description": "From due to the last byte of the response, by step of the scenario.",
            "unit": "s",
            "exponentialHistogram": histograms(by_step.collect()),
        })];
        for (name, description, histogram) in [
            (
                "hakaru.load.latency",
                "From due to the last byte, of all requests.",
                &figures.latency,
            ),
            (
                "hakaru.load.sent_latency",
                "From sent to the last byte, of all requests.",
                &figures.service,
            ),
            (
                "hakaru.load.lateness",
                "From due to sent, where a connection stood ready: the generator's own delay.",
                &figures.lateness,
            ),
            (
                "hakaru.load.connect",
                "To a connection, without TLS.",
                &figures.connecting,
            ),
        ] {
            all.push(json!({
                "name": name,
                "description": description,
                "unit": "s",
                "exponentialHistogram": histograms(vec![self.histogram(Vec::new(), histogram)]),
            }));
        }
        all
    }

    fn counts(&self) -> Vec<Value> {
        let figures = &self.view.measured.figures;
        let mut by_outcome = Vec::new();
        for (label, step) in self.view.steps.iter().zip(&figures.steps) {
            for outcome in Outcome::ALL {
                let count = step.outcomes.of(outcome);
                if count > 0 {
                    let name = json!({ "stringValue": outcome.name() });
                    let mut attributes = of_step(label);
                    attributes.push(attribute("hakaru.outcome", name));
                    by_outcome.push(self.number(attributes, Number::Count(count)));
                }
            }
        }
        let statuses = figures.statuses.sorted().into_iter();
        let by_status = statuses.map(|(status, count)| {
            let status = json!({ "intValue": status.to_string() });
            let attributes = vec![attribute("http.response.status_code", status)];
            self.number(attributes, Number::Count(count))
        });
        vec![
            sum(
                "hakaru.load.requests",
                "Requests by step and outcome.",
                "{request}",
                by_outcome,
            ),
            sum(
                "hakaru.load.responses",
                "Responses by status.",
                "{response}",
                by_status.collect(),
            ),
        ]
    }

    fn totals(&self) -> Vec<Value> {
        let measured = self.view.measured;
        let one = |number: Number| vec![self.number(Vec::new(), number)];
        vec![
            sum(
                "hakaru.load.body",
                "Bytes of responses' bodies.",
                "By",
                one(Number::Count(measured.figures.body_bytes)),
            ),
            sum(
                "hakaru.load.unsent",
                "Requests due and never sent.",
                "{request}",
                one(Number::Count(measured.generator.unsent)),
            ),
            sum(
                "hakaru.load.generator.cpu",
                "CPU time of the generator.",
                "s",
                one(Number::Real(measured.generator.cpu.as_secs_f64())),
            ),
            gauge(
                "hakaru.load.length",
                "Length of the measured part.",
                "s",
                one(Number::Real(measured.window.length().as_secs_f64())),
            ),
            gauge(
                "hakaru.load.rate",
                "Complete responses per second of the measured part.",
                "{request}/s",
                one(Number::Real(measured.rps())),
            ),
        ]
    }

    fn histogram(&self, attributes: Vec<Value>, histogram: &Histogram<u64>) -> Value {
        let point = exponential::point(histogram);
        self.point(attributes, point)
    }

    fn number(&self, attributes: Vec<Value>, number: Number) -> Value {
        let (name, value) = match number {
            Number::Count(count) => ("asInt", json!(count.to_string())),
            Number::Real(real) => ("asDouble", json!(real)),
        };
        self.point(attributes, Map::from_iter([(name.to_owned(), value)]))
    }

    fn point(&self, attributes: Vec<Value>, mut point: Map<String, Value>) -> Value {
        point.insert("attributes".to_owned(), json!(attributes));
        point.insert("startTimeUnixNano".to_owned(), json!(self.from));
        point.insert("timeUnixNano".to_owned(), json!(self.to));
        Value::Object(point)
    }
}

enum Number {
    Count(u64),
    Real(f64),
}

fn histograms(points: Vec<Value>) -> Value {
    json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points })
}

fn sum(name: &str, description: &str, unit: &str, points: Vec<Value>) -> Value {
    let data = json!({
        "aggregationTemporality": CUMULATIVE,
        "isMonotonic": true,
        "dataPoints": points,
    });
    json!({ "name": name, "description": description, "unit": unit, "sum": data })
}

fn gauge(name: &str, description: &str, unit: &str, points: Vec<Value>) -> Value {
    let data = json!({ "dataPoints": points });
    json!({ "name": name, "description": description, "unit": unit, "gauge": data })
}

/// Returns the attributes of a step: method, path as written, and place.
fn of_step(label: &StepLabel) -> Vec<Value> {
    let (method, route) = label.line.split_once(' ').unwrap_or((&label.line, ""));
    let attributes = [
        ("http.request.method", method),
        ("http.route", route),
        ("hakaru.step", &label.place),
    ];
    attributes
        .map(|(key, value)| attribute(key, json!({ "stringValue": value })))
        .to_vec()
}

/// Returns the attributes of a target; none where the target is no URL.
fn server(url: &str) -> Vec<Value> {
    match BaseUrl::split(url) {
        Ok((base, _)) => vec![
            attribute("server.address", json!({ "stringValue": base.host })),
            attribute("server.port", json!({ "intValue": base.port.to_string() })),
        ],
        Err(_) => Vec::new(),
    }
}

fn attribute(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}
