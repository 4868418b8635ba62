//! Words with a meaning in some context of the grammar, mostly usable as names.

/// Whether a word, in lower case, is an unreserved one of the grammar.
pub(super) fn is_unreserved(word: &str) -> bool {
    UNRESERVED.binary_search(&word).is_ok()
}

/// Keywords of the grammar beside the reserved ones, including PL/pgSQL's; sorted.
#[rustfmt::skip]
pub(super) const UNRESERVED: &[&str] = &[
    "abort", "absent", "absolute", "access", "action", "add", "admin", "after", "aggregate", "alias", "also",
    "alter", "always", "asensitive", "assert", "assertion", "assignment", "at", "atomic", "attach", "attribute",
    "backward", "before", "begin", "breadth", "by", "cache", "call", "called", "cascade", "cascaded", "catalog",
    "chain", "characteristics", "checkpoint", "class", "close", "cluster", "column_name", "columns", "comment",
    "comments", "commit", "committed", "compression", "conditional", "configuration", "conflict", "connection",
    "constant", "constraint_name", "constraints", "content", "continue", "conversion", "copy", "cost", "csv",
    "cube", "current", "cursor", "cycle", "data", "database", "datatype", "day", "deallocate", "debug",
    "declare", "defaults", "deferred", "definer", "delete", "delimiter", "delimiters", "depends", "depth",
    "destination", "detach", "detail", "diagnostics", "dictionary", "disable", "discard", "document", "domain",
    "double", "drop", "dump", "each", "edge", "elseif", "elsif", "empty", "enable", "encoding", "encrypted",
    "enforced", "enum", "errcode", "error", "escape", "event", "exception", "exclude", "excluding", "exclusive",
    "execute", "exit", "explain", "expression", "extension", "external", "family", "filter", "finalize",
    "first", "following", "force", "foreach", "format", "forward", "function", "functions", "generated", "get",
    "global", "granted", "graph", "graph_table", "groups", "handler", "header", "hint", "hold", "hour",
    "identity", "if", "ignore", "immediate", "immutable", "implicit", "import", "include", "including",
    "increment", "indent", "index", "indexes", "info", "inherit", "inherits", "inline", "input", "insensitive",
    "insert", "instead", "invoker", "isolation", "keep", "key", "keys", "label", "language", "large", "last",
    "leakproof", "level", "listen", "load", "local", "location", "lock", "locked", "log", "logged", "loop",
    "lsn", "mapping", "match", "matched", "materialized", "maxvalue", "merge", "message", "message_text",
    "method", "minute", "minvalue", "mode", "month", "move", "name", "names", "nested", "new", "next", "nfc",
    "nfd", "nfkc", "nfkd", "no", "node", "normalized", "nothing", "notice", "notify", "nowait", "nulls",
    "object", "objects", "of", "off", "oids", "old", "omit", "open", "operator", "option", "options",
    "ordinality", "others", "over", "overriding", "owned", "owner", "parallel", "parameter", "parser",
    "partial", "partition", "partitions", "passing", "password", "path", "perform", "period", "pg_context",
    "pg_datatype_name", "pg_exception_context", "pg_exception_detail", "pg_exception_hint", "pg_routine_oid",
    "plan", "plans", "policy", "portion", "preceding", "prepare", "prepared", "preserve", "print_strict_params",
    "prior", "privileges", "procedural", "procedure", "procedures", "program", "properties", "property",
    "publication", "query", "quote", "quotes", "raise", "range", "read", "reassign", "recursive", "ref",
    "referencing", "refresh", "reindex", "relationship", "relative", "release", "rename", "repack",
    "repeatable", "replace", "replica", "reset", "respect", "restart", "restrict", "return",
    "returned_sqlstate", "returns", "reverse", "revoke", "role", "rollback", "rollup", "routine", "routines",
    "row_count", "rows", "rowtype", "rule", "savepoint", "scalar", "schema", "schema_name", "schemas", "scroll",
    "search", "second", "security", "sequence", "sequences", "serializable", "server", "session", "set", "sets",
    "share", "show", "simple", "skip", "slice", "snapshot", "source", "split", "sql", "sqlstate", "stable",
    "stacked", "standalone", "start", "statement", "statistics", "stdin", "stdout", "storage", "stored",
    "strict", "string", "strip", "subscription", "support", "sysid", "system", "table_name", "tables",
    "tablespace", "target", "temp", "template", "temporary", "text", "ties", "transaction", "transform",
    "trigger", "truncate", "trusted", "type", "types", "uescape", "unbounded", "uncommitted", "unconditional",
    "unencrypted", "unknown", "unlisten", "unlogged", "until", "update", "use_column", "use_variable", "vacuum",
    "valid", "validate", "validator", "value", "variable_conflict", "varying", "version", "vertex", "view",
    "views", "virtual", "volatile", "wait", "warning", "while", "whitespace", "within", "without", "work",
    "wrapper", "write", "xml", "year", "yes", "zone",
];
