//! Stores other than SQL, and how to ask once for many values.

use words::text;

use crate::types::{Remedy, Safety};

/// A store other than SQL, named as in the agent's records of calls.
#[derive(Clone, Copy)]
pub(super) enum Store {
    Redis,
    Memcached,
}

impl Store {
    pub(super) fn of(digest: &str) -> Option<Store> {
        match digest.split(' ').next() {
            Some("Redis") => Some(Store::Redis),
            Some("Memcached") => Some(Store::Memcached),
            _ => None,
        }
    }

    pub(super) fn remedy(self) -> Remedy {
        let text = match self {
            Store::Redis => {
                text!(
                    "ask once for all of them: `MGET`, `HMGET` or `redis.pipelined`, for `Rails.cache` `read_multi` or \
                     `fetch_multi`; or keep what is read together under one key"
                )
            }
            Store::Memcached => {
                text!(
                    "ask once for all of them: `get_multi`, for `Rails.cache` `read_multi` or `fetch_multi`; or keep \
                     what is read together under one key"
                )
            }
        };
        Remedy {
            text,
            exact: None,
            safety: Safety::Code,
        }
    }
}
