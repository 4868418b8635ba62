//! A setting of PostgreSQL for the sessions of variant B alone, asked for at the begin of each
//! session. The server stays as it is.

use database::Kind;
use schema_db::DbErrorKind;
use schema_db::scratch;

use crate::settings::Settings;

/// The variable with options of each session, read by libpq.
const OPTIONS: &str = "PGOPTIONS";
/// The variable with the address of the app's database.
const ADDRESS: &str = "DATABASE_URL";

/// Returns the variables of B, as `NAME=VALUE`; `known` returns the app's. Options that the app has
/// already stay, in the address, which comes before the variable, or in the variable.
pub(super) fn variables(
    (name, value): (&str, &str),
    known: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let address = known(ADDRESS).and_then(|address| with_more_options(&address, name, value));
    if let Some(address) = address {
        return vec![format!("{ADDRESS}={address}")];
    }
    let own = known(OPTIONS).unwrap_or_default();
    let all = format!("{own} -c {name}={value}");
    vec![format!("{OPTIONS}={}", all.trim_start())]
}

/// Asks the server whether a session gets the setting. A server that lets nobody in from here is
/// left to the app.
///
/// # Errors
/// It does not, as a sentence.
pub(super) fn check(settings: &Settings, (name, value): (&str, &str)) -> Result<(), String> {
    let Some(url) = settings.database_url().filter(|url| is_postgres(url)) else {
        return Ok(());
    };
    let address = with_more_options(&url, name, value)
        .unwrap_or_else(|| with_options(&url, &asked(name, value)));
    let shown = scratch::open(&address).and_then(|mut database| {
        let rows = database.query(&format!("SHOW {name}"))?;
        Ok(rows.into_iter().flatten().flatten().next())
    });
    match shown {
        Ok(Some(shown)) if shown == value => Ok(()),
        Ok(shown) => Err(format!(
            "a session that asks for {value} gets {}",
            shown.unwrap_or_default()
        )),
        Err(error) => match error.kind {
            DbErrorKind::Refused | DbErrorKind::NotPermitted => Err(error.message),
            _ => Ok(()),
        },
    }
}

fn is_postgres(address: &str) -> bool {
    matches!(Kind::of_address(address), Some((Kind::Postgres, _)))
}

/// Returns an address of PostgreSQL with options with one more; `None` for any other.
fn with_more_options(address: &str, name: &str, value: &str) -> Option<String> {
    if !is_postgres(address) {
        return None;
    }
    let (base, query) = address.split_once('?')?;
    let is_options = |part: &&str| part.starts_with("options=");
    let own = query.split('&').find(is_options)?;
    let more = format!("{own}%20{}", asked(name, value));
    let parts = query.split('&').map(|part| match is_options(&part) {
        true => more.as_str(),
        false => part,
    });
    Some(format!("{base}?{}", parts.collect::<Vec<_>>().join("&")))
}

fn with_options(address: &str, options: &str) -> String {
    let sign = if address.contains('?') { '&' } else { '?' };
    format!("{address}{sign}options={options}")
}

/// Returns the option in the form of a URL.
fn asked(name: &str, value: &str) -> String {
    format!("-c%20{name}%3D{value}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_app_stay() {
        let check = |known: &[(&str, &str)], expected: &str| {
            let of = |name: &str| {
                let found = known.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(variables(("work_mem", "32MB"), &of), [expected]);
        };
        check(&[], "PGOPTIONS=-c work_mem=32MB");
        check(
            &[("PGOPTIONS", "-c jit=off")],
            "PGOPTIONS=-c jit=off -c work_mem=32MB",
        );
        let plain = ("DATABASE_URL", "postgres://me@db/shop?sslmode=require");
        check(&[plain], "PGOPTIONS=-c work_mem=32MB");
        // libpq does not look at the variable where the address has options.
        let own = (
            "DATABASE_URL",
            "postgres://me@db/shop?options=-c%20jit%3Doff&sslmode=require",
        );
        check(
            &[own, ("PGOPTIONS", "-c a=b")],
            "DATABASE_URL=postgres://me@db/shop?options=-c%20jit%3Doff%20-c%20work_mem%3D32MB&sslmode=require",
        );
        let other = ("DATABASE_URL", "mysql2://me@db/shop?options=x");
        check(&[other], "PGOPTIONS=-c work_mem=32MB");
    }
}
