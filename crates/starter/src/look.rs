//! Facts about an app, read from the app's files.

use std::fs;
use std::path::Path;

use words::{Text, phrase, text};

/// Facts about an app.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct App {
    /// The app is one of Rails.
    pub rails: bool,
    /// There is a `Gemfile`.
    pub bundled: bool,
    /// There is a `config/puma.rb`, which says how many threads there are.
    pub puma_config: bool,
    /// Rails redirects plain HTTP in production.
    pub https_only: bool,
    /// Rails lacks the secret of production in the present environment.
    pub lacks_secret: bool,
    /// Puma's port.
    pub port: u16,
    /// A command for resetting the data, where the app's files name one.
    pub before: Option<String>,
    /// Paths with a page for a plain GET, as far as the files show; 1 stands for each numeric
    /// parameter.
    pub paths: Vec<String>,
    /// Routes with parameters of unknown values, such as `/pictures/:name`.
    pub to_fill: Vec<String>,
    /// Facts for people, a line each.
    pub found: Vec<Text>,
}

impl App {
    /// Name of the variable with the app's environment.
    pub fn environment(&self) -> &'static str {
        if self.rails { "RAILS_ENV" } else { "RACK_ENV" }
    }
}

/// Paths in a first flow: further ones make the flow no clearer.
const PATHS_MAX: usize = 8;

/// Returns the facts about the app in a folder; `None` where there is no `config.ru`.
pub fn look(folder: &Path) -> Option<App> {
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
    let has = |name: &str| folder.join(name).is_file();
    if !has("config.ru") {
        return None;
    }
    let lock = read("Gemfile.lock") + &read("Gemfile");
    let mut app = App {
        rails: has("config/application.rb") && has("config/routes.rb"),
        bundled: has("Gemfile"),
        puma_config: has("config/puma.rb"),
        port: 9292,
        ..App::default()
    };
    let source = if app.rails {
        app.port = 3000;
        app.https_only = is_set(
            &read("config/environments/production.rb"),
            "config.force_ssl = true",
        );
        app.lacks_secret =
            !has("config/master.key") && !read("config/application.rb").contains("secret_key_base");
        app.found.push(text!("config.ru of a Rails app"));
        read("config/routes.rb")
    } else {
        app.found.push(text!("config.ru of a Rack app"));
        read("config.ru") + &read("app.rb")
    };
    let has_puma = lock.contains("puma");
    let told = facts(&app, has("config/database.yml"), has_puma);
    app.found.extend(told);
    app.before = before(&has, &read("seed.rb"));
    if let Some(line) = &app.before {
        app.found.push(text!(
            "before each run: {line}. Remove `before` from hakaru.toml if that must not happen",
            line
        ));
    }
    let Paths { plain, to_fill } = paths(&source, app.rails);
    if !plain.is_empty() {
        app.found.push(text!(
            "paths for a first flow: {paths}",
            paths = plain.join(", ")
        ));
    }
    if !to_fill.is_empty() {
        app.found.push(text!(
            "routes whose values only you know: {paths}; they are in the flow as comments",
            paths = to_fill.join(", ")
        ));
    }
    (app.paths, app.to_fill) = (plain, to_fill);
    Some(app)
}

/// Facts from the files beside `config.ru`, for people.
fn facts(app: &App, has_database: bool, has_puma: bool) -> Vec<Text> {
    let facts = [
        (app.bundled, phrase!("Gemfile: started by `bundle exec`")),
        (
            app.puma_config,
            phrase!("config/puma.rb: threads and workers as it says"),
        ),
        (
            has_database,
            phrase!("config/database.yml: the address is taken from the running app"),
        ),
        (
            app.https_only,
            phrase!(
                "config.force_ssl: the flow says X-Forwarded-Proto: https, as the proxy in front would"
            ),
        ),
        (
            app.lacks_secret,
            phrase!(
                "no config/master.key: SECRET_KEY_BASE_DUMMY (Rails 7.1) stands in for production's secret"
            ),
        ),
        (
            app.bundled && !has_puma,
            phrase!("no puma in the Gemfile: the app must be able to load it to be seen inside"),
        ),
    ];
    let found = facts.into_iter().filter(|(found, _)| *found);
    found.map(|(_, said)| Text::from(said)).collect()
}

/// Command before a run, only where no data can be lost: an app without a database of the app's own
/// gets tables.
fn before(has: &dyn Fn(&str) -> bool, seed: &str) -> Option<String> {
    if has("db/schema.rb") || has("db/structure.sql") {
        return Some("bundle exec rake db:prepare".to_owned());
    }
    // A script that knows no such flag might do anything.
    (seed.contains("--reset")).then(|| "ruby seed.rb --reset".to_owned())
}

/// Whether a line of Ruby is there and no comment.
fn is_set(source: &str, line: &str) -> bool {
    source.lines().any(|known| known.trim().starts_with(line))
}

/// Paths for a first flow.
#[derive(Debug, Default, PartialEq, Eq)]
struct Paths {
    /// Paths ready to be requested.
    plain: Vec<String>,
    /// Routes with parameters of unknown values.
    to_fill: Vec<String>,
}

/// `/` and the GET routes: Sinatra's `get "/x"` and Rails' `get "x"`, the pages of `resources :x`,
/// and where other apps are put: Rack's `map "/x"` and Rails' `mount X => "/x"`. The first run
/// takes out what answers with no page. `/` is left out where a Rails app has no `root`, and where
/// all routes of another app have parameters: such apps have none.
fn paths(source: &str, rails: bool) -> Paths {
    let routes = routes(source, rails);
    let has_root = match rails {
        true => routes.is_empty() || is_set(source, "root "),
        false => routes.is_empty() || routes.iter().any(|path| !path.contains(':')),
    };
    let mut paths = Paths::default();
    if has_root {
        paths.plain.push("/".to_owned());
    }
    for path in routes.into_iter().filter(|path| is_plain(path)) {
        let (list, path) = match filled(&path) {
            Some(filled) => (&mut paths.plain, filled),
            None => (&mut paths.to_fill, path),
        };
        if !list.contains(&path) {
            list.push(path);
        }
    }
    paths.plain.truncate(PATHS_MAX);
    paths.to_fill.truncate(PATHS_MAX);
    paths
}

/// The paths of all routes, in the order of the source. Rails' blocks put a path before those of
/// the routes in them.
fn routes(source: &str, rails: bool) -> Vec<String> {
    let mut routes = Vec::new();
    let mut before: Vec<String> = Vec::new();
    for line in source.lines().map(str::trim) {
        let mut prefix = before.last().cloned().unwrap_or_default();
        if line.starts_with("collection ") || line.ends_with(":collection") {
            prefix.truncate(prefix.rfind('/').unwrap_or_default());
        }
        let paths = route(line, rails).into_iter();
        routes.extend(paths.map(|path| format!("{prefix}/{}", path.trim_start_matches('/'))));
        if rails && (line.ends_with(" do") || line.contains(" do |")) {
            let path = block(line).map(|path| format!("/{}", path.trim_start_matches('/')));
            before.push(prefix + &path.unwrap_or_default());
        } else if rails && line == "end" {
            before.pop();
        }
    }
    routes
}

/// Returns the paths of the routes in a line of source.
fn route(line: &str, rails: bool) -> Vec<String> {
    let called = |word: &&str| line.strip_prefix(word);
    let path = if let Some(rest) = ["get", "map"].iter().find_map(called) {
        literal(rest.trim_start_matches([' ', '(']))
    } else if let Some(rest) = line.strip_prefix("mount ") {
        let at = rest.split_once("=>").or_else(|| rest.split_once("at:"));
        at.and_then(|(_, at)| literal(at.trim_start()))
    } else {
        let resources = line.strip_prefix("resources :").filter(|_| rails);
        return resources.map_or_else(Vec::new, pages_of);
    };
    path.into_iter().collect()
}

/// Returns the path before the routes in a block of Rails' routes. What changes the names
/// of paths is unknown here: the first run takes out what is not there.
fn block(line: &str) -> Option<String> {
    if let Some(rest) = line.strip_prefix("resources :") {
        let name = name_of(rest);
        let one = name.strip_suffix('s').unwrap_or(&name);
        Some(format!("{name}/:{one}_id"))
    } else if let Some(rest) = line.strip_prefix("resource :") {
        Some(name_of(rest))
    } else if let Some(rest) = line.strip_prefix("namespace :") {
        Some(name_of(rest))
    } else if let Some(rest) = line.strip_prefix("scope ") {
        literal(rest)
    } else {
        None
    }
}

/// Returns the path with 1 for each parameter named like a number, as the first row of a table
/// mostly has; `None` where another parameter is left. The first run takes out what is
/// answered by a refusal.
fn filled(path: &str) -> Option<String> {
    let is_number = |name: &str| {
        let last = name.rsplit('_').next().unwrap_or(name);
        matches!(last, "id" | "number" | "page")
    };
    let parts = path.split('/').map(|part| match part.strip_prefix(':') {
        Some(name) => is_number(name).then_some("1"),
        None => (!part.contains(':')).then_some(part),
    });
    let parts: Option<Vec<&str>> = parts.collect();
    parts.map(|parts| parts.join("/"))
}

fn literal(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split(quote).next().map(str::to_owned)
}

fn name_of(text: &str) -> String {
    let name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    text.chars().take_while(name).collect()
}

/// Returns the readable pages of a resource: the list, and one element.
fn pages_of(text: &str) -> Vec<String> {
    let name = name_of(text);
    let has = |action: &str| {
        let limited = text.contains("only:") && !text.contains(action);
        let left_out = text.contains("except:") && text.contains(action);
        !limited && !left_out && !name.is_empty()
    };
    let list = has("index").then(|| name.clone());
    let one = has("show").then(|| format!("{name}/:id"));
    list.into_iter().chain(one).collect()
}

/// Whether a path is literal or has named parameters, no name of a change, and no content meant for
/// machines.
fn is_plain(path: &str) -> bool {
    const CHANGING: [&str; 4] = ["logout", "initialize", "reset", "delete"];
    const FOR_MACHINES: [&str; 17] = [
        "up",
        "ping",
        "health",
        "healthz",
        "healthcheck",
        "health_check",
        "health-check",
        "livez",
        "readyz",
        "ready",
        "metrics",
        "manifest",
        "service-worker",
        "serviceworker",
        "robots",
        "sitemap",
        "favicon",
    ];
    let plain = |c: char| c.is_ascii_alphanumeric() || "/_-.:".contains(c);
    let last = path.rsplit('/').next().unwrap_or_default();
    let stem = last.split('.').next().unwrap_or_default();
    path.chars().all(plain)
        && !CHANGING.iter().any(|word| path.contains(word))
        && !FOR_MACHINES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rails_needs_in_production_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
            fs::write(path, text).expect("it is written");
        };
        write("config.ru", "run Rails.application\n");
        write("config/application.rb", "");
        write("config/routes.rb", "");
        let production = "config/environments/production.rb";
        write(production, "  # config.force_ssl = true\n");
        write("seed.rb", "Message.delete_all\n");
        let app = look(folder.path()).expect("an app");
        assert!(app.lacks_secret && !app.https_only);
        assert_eq!(app.before, None);
        write(production, "  config.force_ssl = true\n");
        write("config/master.key", "0a1b");
        write("seed.rb", "reset if ARGV.include?(\"--reset\")\n");
        let app = look(folder.path()).expect("an app");
        assert!(app.https_only && !app.lacks_secret);
        assert_eq!(app.before.as_deref(), Some("ruby seed.rb --reset"));
    }

    #[test]
    fn routes_may_have_brackets() {
        let source = "get(\"/\") { \"home\" }\nget('/login') do\nget(\"/b/:id\", provides: :json) { }\n\
                      getter(\"/no\")\nmapping = \"/no\"\n";
        assert_eq!(paths(source, false).plain, ["/", "/login", "/b/1"]);
    }

    #[test]
    fn paths_are_those_that_need_no_value_or_a_number() {
        let check = |source: &str, rails: bool, plain: &[&str], to_fill: &[&str]| {
            let paths = paths(source, rails);
            assert_eq!(paths.plain, plain, "{source}");
            assert_eq!(paths.to_fill, to_fill, "{source}");
        };
        check("", false, &["/"], &[]);
        check(
            "get \"/\" do\nget '/login' do\nget \"/a/:id\" do\nget \"/logout\" do\n",
            false,
            &["/", "/login", "/a/1"],
            &[],
        );
        check(
            "root \"pages#home\"\nget \"up\" => \"rails/health#show\", as: :rails_health_check\nget \"/manifest.json\" do\n\
             mount Sidekiq::Web => \"/jobs\"\nmount Admin::Engine, at: \"/admin\"\nmap \"/api\" do\n",
            true,
            &["/", "/jobs", "/admin", "/api"],
            &[],
        );
        check(
            "root to: \"posts#index\"\nresources :posts, only: %i[index show]\nresources :tags, only: :show\n\
             get \"about\"\n",
            true,
            &["/", "/posts", "/posts/1", "/tags/1", "/about"],
            &[],
        );
        // An interface without `root`, and blocks that put paths before others.
        check(
            "Rails.application.routes.draw do\nnamespace :api do\nresources :orders, except: :show do\n\
             resources :lines, only: :index\nget \"bill\", on: :member\nget \"due\", on: :collection\nend\nend\n\
             scope \"/v2\" do\nget \"report\"\nend\nend\n",
            true,
            &[
                "/api/orders",
                "/api/orders/1/lines",
                "/api/orders/1/bill",
                "/api/orders/due",
                "/v2/report",
            ],
            &[],
        );
        // All routes have parameters: `/` is none of them.
        check(
            "get \"/stations/:id\" do\nget \"/rooms/:room_id/messages/:page\" do\n",
            false,
            &["/stations/1", "/rooms/1/messages/1"],
            &[],
        );
        check(
            "get \"/pictures/:name\" do\nget \"/near/:latitude/:longitude\" do\nget \"/shops/:id\" do\n",
            false,
            &["/shops/1"],
            &["/pictures/:name", "/near/:latitude/:longitude"],
        );
        check(
            "get \"/price/:currency\" do\n",
            false,
            &[],
            &["/price/:currency"],
        );
        check(
            "get \"/files/*\" do\nget \"/x:y/1\" do\n",
            false,
            &["/"],
            &["/x:y/1"],
        );
    }
}
