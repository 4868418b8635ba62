//! Address, headers and resource of what is sent.

use std::fmt;
use std::path::PathBuf;

use scenario::{BaseUrl, url_decode};

/// Path of metrics below a receiver's address.
const METRICS: &str = "/v1/metrics";

/// Where figures go, and as whose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receiver {
    /// URL in full.
    pub url: String,
    /// Headers beside the protocol's own, such as a token.
    pub headers: Vec<(String, String)>,
    /// Authorities in a PEM file, instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Attributes of the resource, `service.name` first.
    pub resource: Vec<(String, String)>,
}

/// Unusable address or variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverError(String);

impl fmt::Display for ReceiverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ReceiverError {}

impl Receiver {
    /// Returns the receiver at an address as typed; the rest is from OpenTelemetry's variables,
    /// which `variable` looks up: `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_EXPORTER_OTLP_CERTIFICATE`,
    /// `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`.
    ///
    /// # Errors
    /// The address is no URL, or a variable is not a list of `name=value`.
    pub fn new(
        address: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Receiver, ReceiverError> {
        let of_address = |why: String| ReceiverError(format!("--otlp: {why}"));
        let (_, path) = BaseUrl::split(address).map_err(of_address)?;
        if path.contains(['?', '#']) {
            let why = format!("{address} has a query; name the receiver, such as {EXAMPLE}");
            return Err(of_address(why));
        }
        let address = address.trim_end_matches('/');
        let tail = if address.ends_with(METRICS) {
            ""
        } else {
            METRICS
        };
        let list = |name: &str| pairs(name, &variable(name).unwrap_or_default());
        let mut resource = list("OTEL_RESOURCE_ATTRIBUTES")?;
        let is_name = |pair: &(String, String)| pair.0 == "service.name";
        let at = resource.iter().position(is_name);
        let listed = at.map(|at| resource.remove(at).1);
        let name = variable("OTEL_SERVICE_NAME").filter(|name| !name.is_empty());
        let name = name.or(listed).unwrap_or_else(|| "hakaru".to_owned());
        resource.insert(0, ("service.name".to_owned(), name));
        let file = variable("OTEL_EXPORTER_OTLP_CERTIFICATE").filter(|file| !file.is_empty());
        Ok(Receiver {
            url: format!("{address}{tail}"),
            headers: list("OTEL_EXPORTER_OTLP_HEADERS")?,
            authorities: file.map(PathBuf::from),
            resource,
        })
    }
}

/// Address of a collector in its default configuration.
const EXAMPLE: &str = "http://127.0.0.1:4318";

/// Reads `name=value,name=value`, the values percent-encoded. A value is not part of the error: a
/// header may be a token.
fn pairs(name: &str, text: &str) -> Result<Vec<(String, String)>, ReceiverError> {
    let words = text.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(|word| match word.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                Ok((key.trim().to_owned(), url_decode(value.trim())))
            }
            _ => Err(ReceiverError(format!(
                "the variable {name} is not name=value,name=value"
            ))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(address: &str, variables: &[(&str, &str)]) -> Result<Receiver, String> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Receiver::new(address, variable).map_err(|error| error.to_string())
    }

    #[test]
    fn the_path_of_metrics_is_added_unless_it_is_there() {
        let check = |address: &str, url: &str| {
            assert_eq!(receiver(address, &[]).map(|one| one.url), Ok(url.into()));
        };
        check(EXAMPLE, "http://127.0.0.1:4318/v1/metrics");
        check("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/metrics");
        check("https://gate/otlp", "https://gate/otlp/v1/metrics");
        check(
            "https://gate/otlp/v1/metrics",
            "https://gate/otlp/v1/metrics",
        );
        let bad = receiver("collector:4318", &[]).unwrap_err();
        assert!(bad.contains("such as http://collector:4318"), "{bad}");
        assert!(receiver("http://a/x?key=1", &[]).is_err());
    }

    #[test]
    fn headers_and_resource_come_from_the_variables() {
        let found = receiver(
            EXAMPLE,
            &[
                (
                    "OTEL_EXPORTER_OTLP_HEADERS",
                    "Authorization=Basic%20abc=, X-Scope-OrgID=7",
                ),
                ("OTEL_RESOURCE_ATTRIBUTES", "team=web,service.name=shop"),
                ("OTEL_EXPORTER_OTLP_CERTIFICATE", "ca.pem"),
            ],
        );
        let found = found.unwrap();
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            found.headers,
            [
                pair("Authorization", "Basic abc="),
                pair("X-Scope-OrgID", "7")
            ]
        );
        assert_eq!(
            found.resource,
            [pair("service.name", "shop"), pair("team", "web")]
        );
        assert_eq!(found.authorities, Some(PathBuf::from("ca.pem")));
        let named = receiver(EXAMPLE, &[("OTEL_SERVICE_NAME", "load")]).unwrap();
        assert_eq!(named.resource, [pair("service.name", "load")]);
        let plain = receiver(EXAMPLE, &[]).unwrap();
        assert_eq!(plain.resource, [pair("service.name", "hakaru")]);
        let bad = receiver(EXAMPLE, &[("OTEL_EXPORTER_OTLP_HEADERS", "s3cret")]).unwrap_err();
        assert!(
            bad.contains("OTEL_EXPORTER_OTLP_HEADERS") && !bad.contains("s3cret"),
            "{bad}"
        );
    }
}
