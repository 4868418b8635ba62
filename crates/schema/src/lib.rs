//! Declarative schemas: SQL text becomes a model, two models a difference, a difference a plan of
//! statements.
//!
//! Pure: no server is asked here and no file is read (`schema-db` does both). What a server would
//! store alike compares equal. Each dialect has a module with the same stages under the same names:
//! `split`, `lexer` and `parser` of texts; `read` into a `model`; `expr` and `normal` forms for
//! comparing; `renames`, `diff`, `order` (with `hazards`) and `print` of plans. Only what all three
//! share stands beside them.

pub mod mysql;
mod object;
pub mod online;
pub mod outline;
pub mod plan;
pub mod postgres;
pub mod rename;
mod roles;
pub mod server;
mod sorted;
pub mod sqlite;
pub mod text;
mod ties;

pub use object::{Object, ObjectKind};
pub use plan::{Allowed, Effect, Hazard, HeldBack, Plan, Statement, Verb};
pub use roles::MEMBERSHIP_OPTIONS;
pub use server::{Dialect, Product, Server, Version};
pub use text::{Note, NoteKind, Source, SyntaxError, without_secret};

/// A schema of any dialect.
#[expect(clippy::large_enum_variant, reason = "a program holds two of them")]
#[derive(Clone, Debug)]
pub enum Schema {
    /// MySQL or MariaDB.
    Mysql(mysql::Schema),
    /// PostgreSQL.
    Postgres(postgres::Schema),
    /// SQLite.
    Sqlite(sqlite::Schema),
}

/// What reading gave.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub schema: Schema,
    /// What was kept without being understood, skipped or ignored.
    pub notes: Vec<Note>,
}

/// How statements are spelled and ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Ours.
    #[default]
    Native,
    /// The spelling and statement order of sqldef, for the drop-in names.
    Sqldef,
}

/// What making a plan needs to know beside the two schemas.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    /// Spelling and order.
    pub style: Style,
    /// Server for which the plan is made. Expectations follow its version.
    pub server: Option<Server>,
    /// Several changes of one table in one `ALTER TABLE` (sqldef's `bulk_alter`; MySQL).
    pub bulk_alter: bool,
    /// `CREATE INDEX CONCURRENTLY` (PostgreSQL).
    pub index_concurrently: bool,
    /// Whether a table's `AUTO_INCREMENT` counter is part of the schema (MySQL).
    pub auto_increment: bool,
    /// Roles whose privileges are part of the schema.
    pub managed_roles: Vec<String>,
    /// The wanted schema says nothing about the order of columns.
    pub any_column_order: bool,
    /// The wanted schema is an outline, such as `schema.rb`: what an outline cannot say of tables
    /// (row security, storage, partitions …) stays unchanged.
    pub is_outline: bool,
    /// Plans for tables in use: locks are held only briefly.
    pub online: bool,
    /// Whether an outside program takes what the server would only do by copying a table (MySQL).
    pub outside: bool,
    /// Statements allowed to block others for long, named as by [`plan::offline_permission`].
    pub offline: Vec<String>,
    /// Whether drops are going to be held back: an index is then added apart from the drop of the
    /// replaced index (MySQL, in sqldef's order).
    pub holds_drops: bool,
    /// Roles and users as parts of the schema themselves, where created by a text.
    pub roles: Vec<String>,
    /// Keep the source's quoting of names instead of quoting all (`legacy_ignore_quotes: false`).
    pub keep_quoting: bool,
}

/// Why no plan could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    /// One sentence: what, on which object, and what to try.
    pub message: String,
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PlanError {}

/// Reads SQL texts in order, as parts of one schema.
///
/// # Errors
/// The first place in what has to be understood (a table, an index …) that is not SQL of this
/// dialect. What is not known at all is kept as it is and noted.
pub fn read(sources: &[Source], server: &Server) -> Result<Loaded, SyntaxError> {
    read_on(cores(), sources, server)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn read_on(cores: usize, sources: &[Source], server: &Server) -> Result<Loaded, SyntaxError> {
    match server.dialect() {
        Dialect::Mysql => mysql::read(sources, server).map(|(schema, notes)| Loaded {
            schema: Schema::Mysql(schema),
            notes,
        }),
        Dialect::Postgres => postgres::read(sources, server, cores).map(|(schema, notes)| Loaded {
            schema: Schema::Postgres(schema),
            notes,
        }),
        Dialect::Sqlite => sqlite::read(sources, server).map(|(schema, notes)| Loaded {
            schema: Schema::Sqlite(schema),
            notes,
        }),
    }
}

/// Reads texts as [`read()`] does, with the named roles and users created by the texts; names as
/// for [`PlanOptions::managed_roles`].
///
/// # Errors
/// Those of [`read()`].
pub fn read_with_roles(
    sources: &[Source],
    server: &Server,
    names: &[String],
) -> Result<Loaded, SyntaxError> {
    if names.is_empty() {
        return read(sources, server);
    }
    let (sources, roles) = take_roles(sources, server, names);
    let mut loaded = read(&sources, server)?;
    if let Some(own) = loaded.schema.roles_mut() {
        *own = roles;
    }
    Ok(loaded)
}

fn take_roles(
    sources: &[Source],
    server: &Server,
    names: &[String],
) -> (Vec<Source>, roles::Roles) {
    roles::take(sources, server, names, |text| match server.dialect() {
        Dialect::Postgres => postgres::role_changes(text),
        Dialect::Mysql => mysql::role_changes(text, server),
        Dialect::Sqlite => Vec::new(),
    })
}

/// Reads two schemas as [`read()`] does, at the same time.
///
/// # Errors
/// Those of the first, else those of the second.
pub fn read_both(
    (from, to): (&[Source], &[Source]),
    server: &Server,
) -> Result<(Loaded, Loaded), SyntaxError> {
    // Each has its share, so that none waits for the other's threads.
    let cores = (cores() / 2).max(1);
    std::thread::scope(|scope| {
        let other = std::thread::Builder::new();
        let other = other.spawn_scoped(scope, || read_on(cores, to, server));
        let from = read_on(cores, from, server);
        let to = match other.map(|other| other.join()) {
            Ok(Ok(to)) => to,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No room for a thread.
            Err(_) => read_on(cores, to, server),
        };
        Ok((from?, to?))
    })
}

/// Returns the statements leading from one schema to the other, in an executable order.
///
/// # Errors
/// When the two are of different dialects, or a rename cannot be what was meant.
pub fn plan(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    let plan = match options.any_column_order || options.is_outline {
        true => {
            let mut to = to.clone();
            if options.any_column_order {
                to.take_order(from);
            }
            if options.is_outline {
                to.take_unsaid(from);
            }
            plan_in_order(from, &to, options)
        }
        false => plan_in_order(from, to, options),
    }?;
    let mut plan = match options.online {
        true => online::rewrite(plan, from, options),
        false => plan,
    };
    if let (Some(from), Some(to)) = (from.roles(), to.roles()) {
        to.plan(from, &mut plan)?;
    }
    Ok(plan)
}

fn plan_in_order(from: &Schema, to: &Schema, options: &PlanOptions) -> Result<Plan, PlanError> {
    match (from, to) {
        (Schema::Mysql(from), Schema::Mysql(to)) => mysql::plan(from, to, options),
        (Schema::Postgres(from), Schema::Postgres(to)) => postgres::plan(from, to, options),
        (Schema::Sqlite(from), Schema::Sqlite(to)) => sqlite::plan(from, to, options),
        _ => Err(PlanError {
            message: "the two schemas are of different dialects; name two of one".to_owned(),
        }),
    }
}

impl Schema {
    /// Returns the whole schema as statements without `;`, in an order accepted by an empty server.
    pub fn statements(&self) -> Vec<String> {
        self.behind(self.role_statements())
    }

    /// Returns the statements of [`Schema::statements`] without passwords of roles known to another
    /// schema: only a creation needs one.
    pub fn statements_beside(&self, known: &Schema) -> Vec<String> {
        let roles = self.roles().zip(known.roles()).map(|(own, known)| {
            let mut own = own.clone();
            own.forget_logins_of(known);
            own.statements()
        });
        self.behind(roles.unwrap_or_default())
    }

    /// Returns all other statements behind the roles'.
    fn behind(&self, mut roles: Vec<String>) -> Vec<String> {
        roles.extend(match self {
            Schema::Mysql(schema) => schema.statements(),
            Schema::Postgres(schema) => schema.statements(),
            Schema::Sqlite(schema) => schema.statements(),
        });
        roles
    }

    fn roles(&self) -> Option<&roles::Roles> {
        match self {
            Schema::Mysql(schema) => Some(&schema.roles),
            Schema::Postgres(schema) => Some(&schema.roles),
            Schema::Sqlite(_) => None,
        }
    }

    fn roles_mut(&mut self) -> Option<&mut roles::Roles> {
        match self {
            Schema::Mysql(schema) => Some(&mut schema.roles),
            Schema::Postgres(schema) => Some(&mut schema.roles),
            Schema::Sqlite(_) => None,
        }
    }

    /// Reads named roles from the text of a server, without passwords.
    ///
    /// # Errors
    /// The start of the first statement not understood, up to a possible password.
    pub fn read_roles(
        &mut self,
        text: Source,
        server: &Server,
        names: &[String],
    ) -> Result<(), String> {
        let (rest, roles) = take_roles(&[text], server, names);
        let mut lines = rest.iter().flat_map(|source| source.text.lines());
        let is_statement = |line: &&str| line.contains(|letter| letter != ';' && letter != ' ');
        if let Some(line) = lines.find(is_statement) {
            return Err(without_secret(line).to_owned());
        }
        if let Some(own) = self.roles_mut() {
            *own = roles;
            own.forget_logins();
        }
        Ok(())
    }

    /// Forgets the passwords of roles, known to a server and not for a text.
    pub fn forget_logins(&mut self) {
        if let Some(roles) = self.roles_mut() {
            roles.forget_logins();
        }
    }

    /// Returns the statements creating the named roles, without `;`.
    pub fn role_statements(&self) -> Vec<String> {
        self.roles()
            .map(roles::Roles::statements)
            .unwrap_or_default()
    }

    /// Returns the statements of [`Schema::statements`] fit for a scratch place, without those that
    /// are not compared: a role or a setting of the whole server would outlive the place.
    pub fn compared(&self) -> Vec<String> {
        match self {
            Schema::Postgres(schema) => schema.compared(),
            Schema::Mysql(schema) => schema.compared(),
            Schema::Sqlite(schema) => schema.statements(),
        }
    }

    /// Takes over the normal forms of a schema as read back from a server, so comparing does not
    /// depend on Hakaru's own idea of the server's normal form. Printing keeps the texts as they
    /// were written. What `stored` lacks, and a schema of another dialect, change nothing.
    pub fn adopt(&mut self, stored: &Schema) {
        match (self, stored) {
            (Schema::Mysql(schema), Schema::Mysql(stored)) => schema.adopt(stored),
            (Schema::Postgres(schema), Schema::Postgres(stored)) => schema.adopt(stored),
            (Schema::Sqlite(schema), Schema::Sqlite(stored)) => schema.adopt(stored),
            _ => {}
        }
    }

    /// Orders the columns as in another schema, new ones last. On PostgreSQL column order is not
    /// compared.
    fn take_order(&mut self, from: &Schema) {
        match (self, from) {
            (Schema::Mysql(schema), Schema::Mysql(from)) => schema.take_order(from),
            (Schema::Sqlite(schema), Schema::Sqlite(from)) => schema.take_order(from),
            _ => {}
        }
    }

    /// Takes over from another schema what an outline cannot say of tables of the same names.
    fn take_unsaid(&mut self, from: &Schema) {
        match (self, from) {
            (Schema::Mysql(schema), Schema::Mysql(from)) => schema.take_unsaid(from),
            (Schema::Postgres(schema), Schema::Postgres(from)) => schema.take_unsaid(from),
            (Schema::Sqlite(schema), Schema::Sqlite(from)) => schema.take_unsaid(from),
            _ => {}
        }
    }

    /// Retains the objects for which `keep` returns `true`. The parts of a table go with it; named
    /// roles stay.
    pub fn retain(&mut self, keep: &dyn Fn(&Object) -> bool) {
        match self {
            Schema::Mysql(schema) => schema.retain(keep),
            Schema::Postgres(schema) => schema.retain(keep),
            Schema::Sqlite(schema) => schema.retain(keep),
        }
    }
}
