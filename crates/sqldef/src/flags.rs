//! The command line of the drop-in names.

use std::ffi::OsString;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::{Ended, SQLDEF, Tool};

const MYSQL: &[Tool] = &[Tool::Mysqldef];
const POSTGRES: &[Tool] = &[Tool::Psqldef];
const SERVERS: &[Tool] = &[Tool::Mysqldef, Tool::Psqldef];
const NOT_MYSQL: &[Tool] = &[Tool::Psqldef, Tool::Sqlite3def];
const ALL: &[Tool] = &Tool::ALL;

/// A flag of one or more tools.
struct Flag {
    tools: &'static [Tool],
    long: &'static str,
    short: Option<char>,
    /// Name of the value; `None` for a flag without a value.
    value: Option<&'static str>,
    help: &'static str,
}

const fn flag(
    tools: &'static [Tool],
    long: &'static str,
    short: Option<char>,
    value: Option<&'static str>,
    help: &'static str,
) -> Flag {
    Flag {
        tools,
        long,
        short,
        value,
        help,
    }
}

const FLAGS: &[Flag] = &[
    flag(
        MYSQL,
        "user",
        Some('u'),
        Some("USERNAME"),
        "User [default: root]",
    ),
    flag(
        POSTGRES,
        "user",
        Some('U'),
        Some("USERNAME"),
        "User [default: postgres]",
    ),
    flag(
        MYSQL,
        "password",
        Some('p'),
        Some("PASSWORD"),
        "Password; MYSQL_PWD wins",
    ),
    flag(
        POSTGRES,
        "password",
        Some('W'),
        Some("PASSWORD"),
        "Password; PGPASSWORD wins",
    ),
    flag(
        SERVERS,
        "host",
        Some('h'),
        Some("HOSTNAME"),
        "Host [default: 127.0.0.1]",
    ),
    flag(
        MYSQL,
        "port",
        Some('P'),
        Some("PORT"),
        "TCP port [default: 3306]",
    ),
    flag(
        POSTGRES,
        "port",
        Some('p'),
        Some("PORT"),
        "TCP port [default: 5432]",
    ),
    flag(
        MYSQL,
        "socket",
        Some('S'),
        Some("PATH"),
        "Unix socket, instead of host and port",
    ),
    flag(
        MYSQL,
        "ssl-mode",
        None,
        Some("MODE"),
        "PREFERRED, REQUIRED or DISABLED [default: PREFERRED]",
    ),
    flag(
        MYSQL,
        "ssl-ca",
        None,
        Some("PATH"),
        "File with the certificate authorities to trust",
    ),
    flag(
        SERVERS,
        "password-prompt",
        None,
        None,
        "Ask for the password",
    ),
    flag(
        MYSQL,
        "enable-cleartext-plugin",
        None,
        None,
        "Send the password in clear text where the server asks for that",
    ),
    flag(
        MYSQL,
        "file",
        None,
        Some("FILENAME"),
        "The wanted schema; may be repeated, or a list with commas [default: -]",
    ),
    flag(
        NOT_MYSQL,
        "file",
        Some('f'),
        Some("FILENAME"),
        "The wanted schema; may be repeated, or a list with commas [default: -]",
    ),
    flag(
        ALL,
        "dry-run",
        None,
        None,
        "Print the statements and execute none",
    ),
    flag(
        ALL,
        "check",
        None,
        None,
        "As --dry-run; exit code 2 when there is anything to do",
    ),
    flag(
        ALL,
        "apply",
        None,
        None,
        "Execute the statements (the default)",
    ),
    flag(ALL, "export", None, None, "Print the current schema"),
    flag(
        ALL,
        "enable-drop",
        None,
        None,
        "Execute also what drops or revokes something",
    ),
    flag(SERVERS, "skip-view", None, None, "Leave views alone"),
    flag(
        POSTGRES,
        "skip-extension",
        None,
        None,
        "Leave extensions alone",
    ),
    flag(
        POSTGRES,
        "skip-partition",
        None,
        None,
        "Leave partitions alone",
    ),
    flag(
        POSTGRES,
        "disable-ddl-transaction",
        None,
        None,
        "Use no transaction",
    ),
    flag(
        MYSQL,
        "bulk-alter",
        None,
        None,
        "One ALTER TABLE for all changes of a table",
    ),
    flag(
        SERVERS,
        "before-apply",
        None,
        Some("SQL"),
        "Execute this first",
    ),
    flag(
        ALL,
        "config",
        None,
        Some("PATH"),
        "YAML file; may be repeated",
    ),
    flag(
        ALL,
        "config-inline",
        None,
        Some("YAML"),
        "The same as text; may be repeated",
    ),
    flag(ALL, "help", None, None, "Print this"),
    flag(ALL, "version", None, None, "Print the version"),
];

/// The name of the positional argument.
const DATABASE: &str = "DATABASE|current.sql";

/// The parsed command line.
#[derive(Clone, Debug, Default)]
pub(super) struct Flags {
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) socket: Option<String>,
    pub(super) ssl_mode: Option<String>,
    pub(super) ssl_ca: Option<String>,
    pub(super) asks_password: bool,
    pub(super) cleartext_plugin: bool,
    /// Files with the wanted schema, or `-`.
    pub(super) files: Vec<String>,
    pub(super) mode: Mode,
    pub(super) is_check: bool,
    pub(super) enable_drop: bool,
    pub(super) skip_view: bool,
    pub(super) skip_extension: bool,
    pub(super) skip_partition: bool,
    pub(super) no_transaction: bool,
    pub(super) bulk_alter: bool,
    pub(super) before_apply: Option<String>,
    /// Configurations in the order of the command line.
    pub(super) configs: Vec<ConfigText>,
    /// A database's name, or a file with the current schema.
    pub(super) database: String,
}

/// Work of the drop-in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Apply,
    DryRun,
    Export,
}

/// Source of a part of the configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigText {
    File(String),
    Inline(String),
}

/// Text printed in place of any work.
#[derive(Debug)]
pub(super) struct Instead {
    pub(super) text: String,
    pub(super) ended: Ended,
}

/// Reads the command line.
pub(super) fn read(
    tool: Tool,
    arguments: impl Iterator<Item = OsString>,
) -> Result<Flags, Instead> {
    let failed = |text: String| Instead {
        text,
        ended: Ended::Failed,
    };
    let name = OsString::from(tool.name());
    let matched = command(tool).try_get_matches_from(std::iter::once(name).chain(arguments));
    let matched = matched.map_err(|error| failed(error.to_string()))?;
    let help = || command(tool).render_help().to_string();
    let given = |name: &str| is_given(&matched, name);
    if given("help") {
        return Err(Instead {
            text: help(),
            ended: Ended::Ok,
        });
    }
    if given("version") {
        return Err(Instead {
            text: format!("{SQLDEF} (hakaru {})\n", env!("CARGO_PKG_VERSION")),
            ended: Ended::Ok,
        });
    }
    let databases: Vec<String> = values(&matched, DATABASE);
    let database = match databases.as_slice() {
        [one] => one.clone(),
        [] => return Err(failed(format!("No database is specified!\n\n{}", help()))),
        many => {
            let many = many.join(" ");
            return Err(failed(format!(
                "Multiple databases are given: [{many}]\n\n{}",
                help()
            )));
        }
    };
    let flags = flags(&matched, database).map_err(failed)?;
    let modes = ["preferred", "required", "disabled", "custom"];
    match &flags.ssl_mode {
        Some(mode) if !modes.contains(&mode.to_ascii_lowercase().as_str()) => Err(failed(format!(
            "Wrong value for ssl-mode is given: {mode}\n\n{}",
            help()
        ))),
        _ => Ok(flags),
    }
}

fn flags(matched: &ArgMatches, database: String) -> Result<Flags, String> {
    let given = |name: &str| is_given(matched, name);
    let value = |name: &str| values(matched, name).pop();
    let port = value("port").map(|port| {
        let number = port.parse::<u16>();
        number.map_err(|_| format!("--port {port} is no TCP port\n"))
    });
    let files = values(matched, "file");
    let files = files.iter().flat_map(|list| list.split(','));
    let mut files: Vec<String> = files.map(|file| file.trim().to_owned()).collect();
    if files.is_empty() {
        files.push("-".to_owned());
    }
    let mode = match (given("export"), given("dry-run") || given("check")) {
        (true, _) => Mode::Export,
        (false, true) => Mode::DryRun,
        (false, false) => Mode::Apply,
    };
    Ok(Flags {
        user: value("user"),
        password: value("password"),
        host: value("host"),
        port: port.transpose()?,
        socket: value("socket"),
        ssl_mode: value("ssl-mode"),
        ssl_ca: value("ssl-ca"),
        asks_password: given("password-prompt"),
        cleartext_plugin: given("enable-cleartext-plugin"),
        files,
        mode,
        is_check: given("check"),
        enable_drop: given("enable-drop"),
        skip_view: given("skip-view"),
        skip_extension: given("skip-extension"),
        skip_partition: given("skip-partition"),
        no_transaction: given("disable-ddl-transaction"),
        bulk_alter: given("bulk-alter"),
        before_apply: value("before-apply").filter(|sql| !sql.is_empty()),
        configs: configs(matched),
        database,
    })
}

fn command(tool: Tool) -> Command {
    let mut command = Command::new(tool.name())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args_override_self(true)
        .override_usage(format!(
            "{} [OPTION]... [DATABASE|current.sql] < desired.sql",
            tool.name()
        ))
        .arg(Arg::new(DATABASE).num_args(0..).action(ArgAction::Append));
    for flag in FLAGS.iter().filter(|flag| flag.tools.contains(&tool)) {
        let mut arg = Arg::new(flag.long).long(flag.long).help(flag.help);
        if let Some(short) = flag.short {
            arg = arg.short(short);
        }
        arg = match flag.value {
            Some(value) => arg
                .value_name(value)
                .action(ArgAction::Append)
                .allow_hyphen_values(true),
            None => arg.action(ArgAction::SetTrue),
        };
        command = command.arg(arg);
    }
    command
}

/// Whether the flag is given; `false` for a flag the tool does not have.
fn is_given(matched: &ArgMatches, name: &str) -> bool {
    let flag = matched.try_get_one::<bool>(name);
    flag.ok().flatten().copied().unwrap_or(false)
}

fn values(matched: &ArgMatches, name: &str) -> Vec<String> {
    let values = matched.try_get_many::<String>(name).ok().flatten();
    values.map_or_else(Vec::new, |values| values.cloned().collect())
}

fn configs(matched: &ArgMatches) -> Vec<ConfigText> {
    let of = |name: &str, make: fn(String) -> ConfigText| {
        let places = matched.indices_of(name).into_iter().flatten();
        let texts = values(matched, name).into_iter().map(make);
        places.zip(texts).collect::<Vec<_>>()
    };
    let mut all = of("config", ConfigText::File);
    all.extend(of("config-inline", ConfigText::Inline));
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, config)| config).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(tool: Tool, line: &str) -> Result<Flags, Instead> {
        read(tool, line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn flags_mean_what_they_mean_to_each_tool() {
        let flags = typed(
            Tool::Mysqldef,
            "-uroot -psecret -h db -P 3307 test --dry-run",
        )
        .unwrap();
        assert_eq!(flags.user.as_deref(), Some("root"));
        assert_eq!(flags.password.as_deref(), Some("secret"));
        assert_eq!((flags.port, flags.mode), (Some(3307), Mode::DryRun));
        let flags = typed(
            Tool::Psqldef,
            "-U me -W secret -p 6000 -f a.sql,b.sql --file c.sql app",
        )
        .unwrap();
        assert_eq!(flags.port, Some(6000));
        assert_eq!(flags.files, ["a.sql", "b.sql", "c.sql"]);
        let flags = typed(Tool::Sqlite3def, "app.db --check").unwrap();
        assert!(flags.is_check);
        assert_eq!(flags.files, ["-"]);
        assert!(typed(Tool::Sqlite3def, "-h db app.db").is_err());
    }

    #[test]
    fn parts_of_the_configuration_keep_their_order() {
        let line = "--config a.yml --config-inline x:1 --config b.yml test";
        let flags = typed(Tool::Mysqldef, line).unwrap();
        let file = |name: &str| ConfigText::File(name.to_owned());
        let inline = ConfigText::Inline("x:1".to_owned());
        assert_eq!(flags.configs, [file("a.yml"), inline, file("b.yml")]);
    }

    #[test]
    fn what_is_printed_instead_has_a_code() {
        let check = |line: &str, start: &str, ended: Ended| {
            let instead = typed(Tool::Mysqldef, line).unwrap_err();
            assert!(instead.text.starts_with(start), "{}", instead.text);
            assert_eq!(instead.ended, ended, "{line}");
        };
        check("--version", "3.11.20 (hakaru ", Ended::Ok);
        check("--help", "Usage: mysqldef [OPTION]...", Ended::Ok);
        check("", "No database is specified!\n\nUsage:", Ended::Failed);
        check(
            "a b",
            "Multiple databases are given: [a b]\n",
            Ended::Failed,
        );
        check(
            "--ssl-mode=x a",
            "Wrong value for ssl-mode is given: x\n",
            Ended::Failed,
        );
        check("--nonsense a", "error:", Ended::Failed);
    }
}
