//! The texts of the two files.

use guard::Store;

use crate::look::App;
use crate::prove::UNTRIED;

/// Beginning of each entry of a first flow, before the path.
pub const ENTRY: &str = "GET {{base_url}}";
/// The header of each entry.
pub const COMPRESSED: &str = "Accept-Encoding: gzip";
/// Header for an app with a redirect from plain HTTP.
pub const FORWARDED: &str = "X-Forwarded-Proto: https";

/// `hakaru.toml`, each line explained.
pub fn config(app: &App, flow: &str, remote: &[Store]) -> String {
    let port = app.port;
    let bundle = if app.bundled { "bundle exec " } else { "" };
    let (threads, threads_why) = if app.puma_config {
        (
            " -C config/puma.rb",
            "config/puma.rb says how many threads; ",
        )
    } else {
        (" -t 5:5", "-t 5:5 is five threads; ")
    };
    let environment = app.environment();
    let secret = if app.lacks_secret {
        ", SECRET_KEY_BASE_DUMMY = \"1\""
    } else {
        ""
    };
    let local = remote.first().map_or_else(String::new, |store| {
        local_database(store, &format!("{environment} = \"production\"{secret}"))
    });
    let before = match &app.before {
        Some(line) => format!("before = \"{line}\"\n"),
        None => "# before = \"…\"\n".to_owned(),
    };
    format!(
        "# How `hakaru run` measures this app. `hakaru help config` lists every key.\n\n\
         [target]\n\
         # Starts the app; {threads_why}-b is where it listens.\n\
         command = \"{bundle}puma{threads} -b tcp://127.0.0.1:{port} config.ru\"\n\
         # Where it answers.\n\
         url = \"http://127.0.0.1:{port}\"\n\
         # As in production: without code reloading and debug pages.\n\
         env = {{ {environment} = \"production\"{secret} }}\n\
         {local}\
         # Puts the data into the same state before each run. A table with few rows hides what is slow in production.\n\
         {before}\n\
         [load]\n\
         # So many users, each sending its next request when the last is answered.\n\
         connections = 10\n\
         # The measured part, and load before it that is not counted.\n\
         duration = \"20s\"\n\
         warmup = \"3s\"\n\n\
         # What users do. Add a block for each thing they do, with `weight` for how often.\n\
         [[flow]]\n\
         file = \"{flow}\"\n"
    )
}

/// The environment with a local database, as a comment, and the key for allowing the other
/// database.
fn local_database(store: &Store, env: &str) -> String {
    let url = store.local_alternative().unwrap_or("…");
    format!(
        "# {host} is not on this machine ({place}), so hakaru stops before it touches it.\n\
         # With a database of this machine instead:\n\
         # env = {{ {env}, DATABASE_URL = \"{url}\" }}\n\
         # If you mean that one:\n\
         # database_host_ok = \"{host}\"\n",
        host = store.host,
        place = store.place,
    )
}

/// A flow with one request per path. An entry without a stated status accepts every status below
/// 500.
pub fn flow(app: &App) -> String {
    let mut text = format!(
        "# A first flow: one request after another. State what each must answer, such as `HTTP 200`,\n\
         # as soon as you know; until then every answer but a server error will do.\n\
         # Accept-Encoding lets the app compress, as it does for a browser; checks see the body decompressed.\n\
         {UNTRIED}\n"
    );
    if !app.to_fill.is_empty() {
        text += "# To be filled in: what stands after a colon, and the # taken away.\n";
        let comments = app.to_fill.iter();
        text.extend(comments.map(|path| format!("# {ENTRY}{path}\n")));
    }
    let https = if app.https_only {
        format!("{FORWARDED}\n")
    } else {
        String::new()
    };
    for path in &app.paths {
        text += &format!("\n{ENTRY}{path}\n{COMPRESSED}\n{https}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_whose_values_are_unknown_are_comments() {
        let app = App {
            paths: vec!["/shops/1".to_owned()],
            to_fill: vec!["/pictures/:name".to_owned()],
            ..App::default()
        };
        let text = flow(&app);
        assert!(text.contains("\n# GET {{base_url}}/pictures/:name\n\nGET {{base_url}}/shops/1\n"));
        assert!(crate::prove::is_untried(&text), "{text}");
    }

    #[test]
    fn a_bare_app_gets_five_threads_and_a_rails_app_its_own_settings() {
        let bare = App {
            port: 9292,
            ..App::default()
        };
        let text = config(&bare, "f.hurl", &[]);
        assert!(text.contains("\ncommand = \"puma -t 5:5 -b tcp://127.0.0.1:9292 config.ru\"\n"));
        assert!(text.contains("\n# before = "));
        let rails = App {
            rails: true,
            bundled: true,
            puma_config: true,
            port: 3000,
            before: Some("bundle exec rake db:prepare".to_owned()),
            https_only: true,
            lacks_secret: true,
            paths: vec!["/".to_owned()],
            ..App::default()
        };
        let first = flow(&rails);
        assert!(first.ends_with("Accept-Encoding: gzip\nX-Forwarded-Proto: https\n"));
        let text = config(&rails, "f.hurl", &[]);
        assert!(text.contains("bundle exec puma -C config/puma.rb -b tcp://127.0.0.1:3000"));
        assert!(text.contains("RAILS_ENV = \"production\", SECRET_KEY_BASE_DUMMY = \"1\""));
        assert!(text.contains("RAILS_ENV") && text.contains("\nbefore = \"bundle exec rake"));
    }
}
