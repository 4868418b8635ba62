//! Reads the Rack env: the request's number, and the framework's own name of the route.

use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::api::{Api, HeapType, Value, c_string, is};

/// Env keys as Ruby strings living as long as the process.
struct Keys {
    /// Sinatra: `GET /channel/:id`.
    sinatra: Value,
    /// Rails ≥ 7.1: `/posts/:id(.:format)`, without the method.
    rails: Value,
    method: Value,
    /// The request's number, as Rack names the header.
    id: Value,
    /// `@env` of `Puma::Client`.
    client_env: usize,
    /// Whether a framework with names for routes is loaded: each look-up in the env costs about 1 %
    /// of a hello-world request's instructions, so none is made for nothing.
    named: AtomicBool,
}

static KEYS: OnceLock<Keys> = OnceLock::new();

/// Records the presence of a framework with names for routes.
pub(crate) fn expect_names() {
    if let Some(keys) = KEYS.get() {
        keys.named.store(true, Relaxed);
    }
}

/// Makes the keys.
pub(crate) fn prepare(api: &Api) {
    let key = |text: &CStr| {
        let string = (api.rb_utf8_str_new)(text.as_ptr(), text.count_bytes() as i64);
        (api.rb_gc_register_mark_object)(string);
        string
    };
    KEYS.get_or_init(|| Keys {
        sinatra: key(c"sinatra.route"),
        rails: key(c"action_dispatch.route_uri_pattern"),
        method: key(c"REQUEST_METHOD"),
        id: key(c"HTTP_HAKARU_REQUEST"),
        client_env: (api.rb_intern)(c"@env".as_ptr()),
        named: AtomicBool::new(false),
    });
}

/// Set in a number where the client sends other requests without one, which are not to be recorded.
pub(crate) const THINNED: u64 = 1 << 63;

/// Removes the request's number from the env, out of the app's sight, and returns the number; 0
/// without one.
pub(crate) fn take_request_id(api: &Api, env: Value) -> u64 {
    match KEYS.get() {
        Some(keys) if is(env, HeapType::Hash) => number((api.rb_hash_delete)(env, keys.id)),
        _ => 0,
    }
}

/// The request's number, left in the env; 0 without one.
pub(crate) fn request_id(api: &Api, env: Value) -> u64 {
    match KEYS.get() {
        Some(keys) if is(env, HeapType::Hash) => number((api.rb_hash_lookup)(env, keys.id)),
        _ => 0,
    }
}

/// Returns the number of the request read by a `Puma::Client`; 0 without one.
pub(crate) fn request_id_of_client(api: &Api, client: Value) -> u64 {
    let Some(keys) = KEYS.get() else { return 0 };
    request_id(api, (api.rb_ivar_get)(client, keys.client_env))
}

/// The header's 16 hexadecimal digits; 0 for no text, and some number for other text than ours.
fn number(header: Value) -> u64 {
    let Some(text) = c_string(header) else {
        return 0;
    };
    text.to_bytes()
        .iter()
        .fold(0, |id, byte| id << 4 | u64::from(digit(*byte)))
}

/// Returns a hexadecimal digit's value; the tens from `A` and `a` on are nine above the low four
/// bits.
fn digit(byte: u8) -> u8 {
    (byte & 0xf) + 9 * (byte >> 6)
}

/// Returns the route, such as `GET /channel/:id`; `None` without one from the framework.
pub(crate) fn of<'a>(api: &Api, env: Value) -> Option<Cow<'a, [u8]>> {
    let keys = KEYS.get()?;
    if !keys.named.load(Relaxed) || !is(env, HeapType::Hash) {
        return None;
    }
    let text = |key| c_string((api.rb_hash_lookup)(env, key)).map(CStr::to_bytes);
    if let Some(route) = text(keys.sinatra) {
        return Some(Cow::Borrowed(route));
    }
    let pattern = text(keys.rails)?;
    let pattern = pattern.strip_suffix(b"(.:format)").unwrap_or(pattern);
    let method = text(keys.method).unwrap_or(b"GET");
    Some(Cow::Owned([method, b" ", pattern].concat()))
}
