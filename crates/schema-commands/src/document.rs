//! A plan as JSON: what programs read, and what `apply` carries out later. Format
//! `hakaru-schema-plan`, version 1.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use schema::plan::{Online, Way};
use schema::{Hazard, HeldBack, Product, Schema, Server, Version};
use schema_db::Unseen;
use schema_db::apply::Step;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::online::Sizes;
use super::page::permission;
use super::scope::Scope;
use super::sides::Compared;
use ending::{Cause, Failure};

const FORMAT: &str = "hakaru-schema-plan";
const VERSION: u32 = 1;

/// The whole document.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Document {
    format: String,
    version: u32,
    /// Place of the schema before the plan, without a password.
    pub(super) place: String,
    server: ServerLine,
    /// Fingerprint of the schema before the plan.
    pub(super) fingerprint: String,
    pub(super) statements: Vec<Line>,
    /// Objects neither compared nor changed; absent in older files.
    #[serde(default)]
    pub(super) unseen: Vec<Hidden>,
    /// Terms for tables in use, with the allowed waits of others; absent in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) online: Option<OnlineTerms>,
    /// Scope of the comparison; older files leave nothing out.
    #[serde(default, skip_serializing_if = "Scope::is_all")]
    pub(super) scope: Scope,
    /// Roles and users as parts of the schema themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) roles: Vec<String>,
    /// Statements of the schema after the plan.
    pub(super) wanted: Vec<String>,
    /// Set by `apply`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) outcome: Option<Outcome>,
}

/// Terms of a plan for tables in use.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct OnlineTerms {
    /// Permissions in the words of `--allow`, such as `offline-column:users.id`.
    pub(super) allow: Vec<String>,
}

/// Execution of a statement other than as written.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
enum WayLine {
    /// Lock with a short wait and retries, so nobody queues behind.
    Patient,
    /// Builds an index beside writers.
    Build {
        schema: String,
        table: String,
        index: String,
    },
    /// The cheapest algorithm of the server.
    Cheapest { table: String, action: String },
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct ServerLine {
    product: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    version: Option<String>,
}

/// An object outside the comparison.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Hidden {
    kind: String,
    name: String,
}

/// One statement.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Line {
    sql: String,
    verb: String,
    kind: String,
    name: String,
    /// Permission for `--allow`, when the statement destroys something.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) permission: Option<String>,
    transactional: bool,
    /// Effect on stored values and rights; absent in older files.
    #[serde(default)]
    effect: String,
    hazards: Vec<Harm>,
    /// Changed table; only in plans for tables in use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    table: Option<TableSize>,
    /// Execution of the statement; only in plans for tables in use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    way: Option<WayLine>,
    /// Numbers, from 0, of the statements required by the statement; absent in older files.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    needs: Vec<usize>,
    /// Reason not to apply the statement; `null` for an applied one.
    pub(super) held_back: Option<Held>,
}

/// Size of a table, by the server's statistics.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct TableSize {
    table: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    rows: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    bytes: Option<u64>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Harm {
    kind: String,
    what: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    query: Option<String>,
}

/// Why a statement is not applied.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub(super) enum Held {
    /// The statement destroys something.
    Destructive,
    /// Others would wait for long.
    Offline,
    /// The statement requires another one, counted from 0.
    Needs { statement: usize },
}

/// Result of applying the plan.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Outcome {
    /// Statements executed.
    pub(super) executed: usize,
    /// Statements held back.
    pub(super) held_back: usize,
    /// Statements still needed although all were executed.
    pub(super) missing: Vec<String>,
    pub(super) seconds: f64,
}

/// A comparison's document.
pub(super) fn of(compared: &Compared) -> Document {
    let Compared {
        place,
        server,
        from,
        wanted,
        plan,
        sizes,
        unseen,
        scope,
        online,
        roles,
    } = compared;
    Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        place: place.shown(),
        server: server_line(server),
        fingerprint: fingerprint(from),
        statements: plan
            .statements
            .iter()
            .map(|statement| line(statement, sizes))
            .collect(),
        unseen: unseen.iter().map(hidden).collect(),
        online: online.clone(),
        scope: scope.clone(),
        roles: roles.clone(),
        wanted: wanted.statements_beside(from),
        outcome: None,
    }
}

/// An object that is not compared, as in the file.
pub(super) fn hidden(unseen: &Unseen) -> Hidden {
    Hidden {
        kind: unseen.kind.clone(),
        name: unseen.name.clone(),
    }
}

/// Returns the text: one document and a line end.
pub(super) fn text(document: &Document) -> String {
    // Strings, numbers and lists cannot fail to become JSON.
    serde_json::to_string_pretty(document).unwrap_or_default() + "\n"
}

/// Writes the document, readable by the owner alone: a schema says much about a business.
pub(super) fn write(path: &Path, document: &Document) -> Result<(), Failure> {
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text(document).as_bytes()));
    written.map_err(|error| {
        let message = format!(
            "cannot write {}: {error}; name a file in a folder that exists and has room",
            path.display()
        );
        Failure::new(Cause::Failed, message)
    })
}

/// Reads a stored plan.
pub(super) fn read(path: &Path) -> Result<Document, Failure> {
    let wrong = |what: String| {
        let message = format!("cannot use {}: {what}", path.display());
        Failure::new(Cause::Usage, message)
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document: Document = serde_json::from_str(&text).map_err(|error| {
        wrong(format!(
            "it is no plan ({error}); make one with `hakaru schema plan --out`"
        ))
    })?;
    if document.format != FORMAT || document.version != VERSION {
        return Err(wrong(format!(
            "it is {} version {}; this program reads {FORMAT} version {VERSION}",
            document.format, document.version
        )));
    }
    Ok(document)
}

impl Document {
    /// Steps executed by `apply`.
    pub(super) fn steps(&self) -> Vec<Step> {
        let numbered = self.statements.iter().enumerate();
        let applied = numbered.filter(|(_, line)| line.held_back.is_none());
        schema_db::runner::renumbered(applied.map(|(at, line)| {
            let step = Step {
                sql: line.sql.clone(),
                transactional: line.transactional,
                verb: line.verb.clone(),
                kind: line.kind.clone(),
                name: line.name.clone(),
                online: Online {
                    table: line.table.as_ref().map(|size| size.table.clone()),
                    way: line.way.as_ref().map_or(Way::Hurried, way),
                },
                needs: line.needs.clone(),
            };
            (at, step)
        }))
    }

    /// Permissions given when the plan was made.
    pub(super) fn permissions(&self) -> Vec<String> {
        let applied = self
            .statements
            .iter()
            .filter(|line| line.held_back.is_none());
        let named = applied.filter_map(|line| line.permission.clone());
        let terms = self.online.iter();
        named
            .chain(terms.flat_map(|terms| terms.allow.clone()))
            .collect()
    }
}

/// Fingerprint of a schema, independent of the order of statements.
pub(super) fn fingerprint(schema: &Schema) -> String {
    let mut statements = schema.statements();
    statements.sort_unstable();
    let mut hasher = Sha256::new();
    for statement in statements {
        hasher.update(statement.as_bytes());
        hasher.update([0]);
    }
    let digest = hasher.finalize();
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn server_line(server: &Server) -> ServerLine {
    let product = match server.product {
        Product::Mysql => "mysql",
        Product::MariaDb => "mariadb",
        Product::Postgres => "postgres",
        Product::Sqlite => "sqlite",
    };
    let version = server
        .version
        .map(|Version(major, minor, patch)| format!("{major}.{minor}.{patch}"));
    ServerLine {
        product: product.to_owned(),
        version,
    }
}

fn line(statement: &schema::Statement, sizes: &Sizes) -> Line {
    let step = Step::of(statement);
    let sized = |table: &String| {
        let size = sizes.of(&step.online).map(|(_, size)| size);
        let size = size.unwrap_or_default();
        TableSize {
            table: table.clone(),
            rows: size.rows,
            bytes: size.bytes,
        }
    };
    Line {
        table: step.online.table.as_ref().map(sized),
        way: way_line(&step.online.way),
        needs: statement.needs.clone(),
        sql: step.sql,
        verb: step.verb,
        kind: step.kind,
        name: step.name,
        permission: statement.is_destructive().then(|| permission(statement)),
        transactional: step.transactional,
        effect: statement.effect().word().to_owned(),
        hazards: statement.hazards.iter().map(harm).collect(),
        held_back: statement.held_back.as_ref().map(|held| match held {
            HeldBack::Destructive => Held::Destructive,
            HeldBack::Offline => Held::Offline,
            HeldBack::Needs(statement) => Held::Needs {
                statement: *statement,
            },
        }),
    }
}

fn way_line(way: &Way) -> Option<WayLine> {
    Some(match way.clone() {
        Way::Hurried => return None,
        Way::Patient => WayLine::Patient,
        Way::Build {
            schema,
            table,
            index,
        } => WayLine::Build {
            schema,
            table,
            index,
        },
        Way::Cheapest { table, action } => WayLine::Cheapest { table, action },
    })
}

fn way(line: &WayLine) -> Way {
    match line.clone() {
        WayLine::Patient => Way::Patient,
        WayLine::Build {
            schema,
            table,
            index,
        } => Way::Build {
            schema,
            table,
            index,
        },
        WayLine::Cheapest { table, action } => Way::Cheapest { table, action },
    }
}

fn harm(hazard: &Hazard) -> Harm {
    let (kind, what, query) = match hazard {
        Hazard::DataLoss(what) => ("data-loss", what.as_str(), None),
        Hazard::LossyCast(what) => ("lossy-cast", what.as_str(), None),
        Hazard::Drop(what) => ("drop", what.as_str(), None),
        Hazard::Opens(what) => ("opens", what.as_str(), None),
        Hazard::Rewrite(what) => ("rewrite", what.as_str(), None),
        Hazard::Lock(lock) => ("lock", *lock, None),
        Hazard::MayFail { reason, query } => ("may-fail", reason.as_str(), query.clone()),
        Hazard::NotTransactional => ("not-transactional", "", None),
        Hazard::Offline(what) => ("offline", what.as_str(), None),
    };
    Harm {
        kind: kind.to_owned(),
        what: what.to_owned(),
        query,
    }
}
