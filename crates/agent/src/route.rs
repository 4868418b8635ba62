//! The framework's own name of the route, from what it leaves in the Rack env.

use std::borrow::Cow;
use std::ffi::CStr;
use std::sync::OnceLock;

use crate::api::{Api, HeapType, Value, c_string, is};

/// Env keys as Ruby strings that live as long as the process.
struct Keys {
    /// Sinatra: `GET /channel/:id`.
    sinatra: Value,
    /// Rails ≥ 7.1: `/posts/:id(.:format)`, without the method.
    rails: Value,
    method: Value,
}

static KEYS: OnceLock<Keys> = OnceLock::new();

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
    });
}

/// Such as `GET /channel/:id`; `None` when the framework does not tell.
pub(crate) fn of<'a>(api: &Api, env: Value) -> Option<Cow<'a, [u8]>> {
    let keys = KEYS.get()?;
    if !is(env, HeapType::Hash) {
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
