//! The suites of other projects, and where in Debian's source packages the tests are.

/// One project's tests.
pub(super) struct Suite {
    /// Debian's release.
    pub(super) suite: &'static str,
    /// Source package of the project.
    pub(super) package: &'static str,
    /// Below the source.
    pub(super) folder: &'static str,
    /// Files of tests below `folder`: a folder, and a common beginning or end of file names.
    pub(super) tests: (&'static str, &'static str),
    /// For `-I`.
    pub(super) include: &'static [&'static str],
    /// Extension expected by the tests beside the package's own code: name in the unpacked package,
    /// and path of the file here.
    pub(super) extension: Option<(&'static str, &'static str)>,
    /// Whether the tests need a PostgreSQL.
    pub(super) needs_postgres: bool,
    /// Whether each file runs in a process of its own, where a server that never stops ends the
    /// tests of no other file.
    pub(super) is_apart: bool,
}

const SUITE: Suite = Suite {
    suite: "trixie",
    package: "",
    folder: "",
    tests: ("test", "test_"),
    include: &["lib", "test"],
    extension: None,
    needs_postgres: false,
    is_apart: false,
};

const RAILS: Suite = Suite {
    package: "rails",
    ..SUITE
};

/// All suites; a suite whose source is missing on a mirror says so in the table.
pub(super) const SUITES: [Suite; 11] = [
    Suite {
        package: "puma",
        extension: Some(("puma_http11.so", "lib/puma/puma_http11.so")),
        is_apart: true,
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-rack",
        tests: ("test", "spec_"),
        ..SUITE
    },
    Suite {
        package: "ruby-rack-test",
        tests: ("spec", "_spec.rb"),
        include: &["lib", "spec"],
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-sinatra",
        tests: ("test", "_test.rb"),
        ..SUITE
    },
    Suite {
        suite: "sid",
        package: "ruby-sqlite3",
        extension: Some(("sqlite3_native.so", "lib/sqlite3/sqlite3_native.so")),
        ..SUITE
    },
    Suite {
        package: "ruby-pg",
        tests: ("spec", "_spec.rb"),
        ..SUITE
    },
    Suite {
        folder: "actionpack",
        tests: ("test/dispatch", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "actionpack",
        tests: ("test/controller", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/relation", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/associations", "_test.rb"),
        ..RAILS
    },
    Suite {
        folder: "activerecord",
        tests: ("test/cases/adapters/postgresql", "_test.rb"),
        needs_postgres: true,
        ..RAILS
    },
];
