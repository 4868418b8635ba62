//! Settings of the schema engine, from the flags of `hakaru schema`.

use schema::{Allowed, Object, PlanOptions, Product, Server};
use schema_db::runner::{Scratch, Settings};

use super::document::OnlineTerms;
use super::place::Access;
use super::scope::{Ready, Scope};
use crate::flags::{Dialect, Filter, How, ScratchArg};

impl Dialect {
    /// The server of the dialect.
    pub(super) fn server(self) -> Server {
        Server::unknown(match self {
            Dialect::Mysql => Product::Mysql,
            Dialect::Mariadb => Product::MariaDb,
            Dialect::Postgres => Product::Postgres,
            Dialect::Sqlite => Product::Sqlite,
        })
    }
}

impl How {
    /// Settings of a comparison; `server` is the dialect of texts, `ready` the scope.
    pub(super) fn settings(&self, server: &Server, ready: Ready) -> Settings<'static> {
        Settings {
            options: PlanOptions {
                server: Some(server.clone()),
                index_concurrently: self.concurrently || self.online,
                online: self.online,
                outside: self.online_command.is_some(),
                offline: self.allow.clone(),
                auto_increment: self.auto_increment,
                managed_roles: self.managed_role.clone(),
                roles: self.role.clone(),
                any_column_order: ready.any_column_order,
                is_outline: ready.is_outline(),
                ..PlanOptions::default()
            },
            allowed: Allowed {
                all: self.enable_drop,
                named: self.allow.clone(),
            },
            scratch: match self.scratch {
                ScratchArg::Never => Scratch::Never,
                ScratchArg::Auto => Scratch::Auto,
                ScratchArg::Always => Scratch::Always,
            },
            keep: forever(ready),
        }
    }

    /// Terms of a plan for tables in use.
    pub(super) fn online_terms(&self) -> Option<OnlineTerms> {
        let allowed = self.allow.iter();
        let allow = allowed.filter(|allowed| allowed.starts_with("offline-"));
        self.online.then(|| OnlineTerms {
            allow: allow.cloned().collect(),
        })
    }

    pub(super) fn access(&self) -> Access {
        Access {
            prompt: self.password_prompt,
            create: false,
        }
    }
}

impl Filter {
    /// Scope by the command line.
    pub(super) fn scope(&self) -> Scope {
        Scope {
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            ..Scope::default()
        }
    }
}

/// Leaks a scope, of which the program has one, for use until the program's end.
pub(super) fn forever(ready: Ready) -> &'static dyn Fn(&Object) -> bool {
    Box::leak(Box::new(move |object: &Object| ready.keeps(object)))
}
