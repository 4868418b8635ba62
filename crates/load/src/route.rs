//! Ways to the server: addresses and settings of TLS, found before the first request.

use scenario::{BaseUrl, Link, Scenario};

use crate::address::{Address, Via};
use crate::outcome::LoadError;
use crate::plan::Plan;
use crate::tls::TlsClient;

/// One way to the server.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) address: Address,
    /// Where a proxy at the address opens a tunnel to.
    pub(crate) behind: Option<BaseUrl>,
    /// `None`: without TLS.
    pub(crate) tls: Option<TlsClient>,
    pub(crate) speaks: Speaks,
    /// Bytes per second in each direction, where limited.
    pub(crate) bytes_per_second: Option<u64>,
}

/// The version of HTTP on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 where the server chooses so by ALPN, else HTTP/1.1.
    Either,
    /// HTTP/2 and nothing else.
    Http2,
}

/// All ways of a scenario, by [`scenario::Session::link`].
#[derive(Debug)]
pub(crate) struct Routes(Vec<Route>);

impl Routes {
    /// Looks addresses up and reads certificates.
    pub(crate) fn of(scenario: &Scenario, plan: &Plan) -> Result<Routes, LoadError> {
        let links = scenario.links().iter();
        let routes: Result<Vec<Route>, LoadError> =
            links.map(|link| Route::of(scenario, plan, link)).collect();
        routes.map(Routes)
    }

    pub(crate) fn of_link(&self, link: u16) -> &Route {
        &self.0[usize::from(link)]
    }

    /// Returns whether a way limits the rate.
    pub(crate) fn has_limit(&self) -> bool {
        self.0.iter().any(|route| route.bytes_per_second.is_some())
    }

    /// Returns whether entries go different ways.
    pub(crate) fn has_several(&self) -> bool {
        self.0.len() > 1
    }
}

impl Route {
    fn of(scenario: &Scenario, plan: &Plan, link: &Link) -> Result<Route, LoadError> {
        let base = scenario.base_url();
        let to = link.to.clone();
        let to = to.map(|(host, port)| Via::Host { host, port });
        let address = Address::find(base, to.as_ref().or(plan.via.as_ref()))?;
        let speaks = match (plan.streams > 0, link.http2) {
            (true, None | Some(true)) => Speaks::Http2,
            (false, Some(true)) => Speaks::Either,
            (_, None | Some(false)) => Speaks::Http1,
        };
        let client = || TlsClient::new(&base.host, &plan.trust, link, speaks != Speaks::Http1);
        let via = to.as_ref().or(plan.via.as_ref());
        let is_proxy = matches!(via, Some(Via::Proxy { .. }));
        Ok(Route {
            address,
            behind: is_proxy.then(|| base.clone()),
            tls: base.tls.then(client).transpose()?,
            speaks,
            bytes_per_second: link.bytes_per_second,
        })
    }
}
