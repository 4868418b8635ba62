//! TLS to real servers, with an authority and certificates made here.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use capture::{Catalogue, ExplainLimits};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use schema_db::mysql::{Mysql, MysqlAddress};
use schema_db::postgres::{Postgres, PostgresAddress};
use schema_db::{Database, DbError};

/// Longest wait for PostgreSQL to reload settings, which happens asynchronously.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host name not used by any test server.
const ELSEWHERE: &str = "elsewhere.example";

/// Who signs.
struct Authority {
    params: CertificateParams,
    key: KeyPair,
    folder: tempfile::TempDir,
}

/// A certificate and a key in PEM form.
struct Signed {
    certificate: String,
    key: String,
}

impl Authority {
    fn new() -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let folder = tempfile::tempdir().unwrap();
        let own = params.self_signed(&key).unwrap();
        fs::write(folder.path().join("ca.pem"), own.pem()).unwrap();
        Authority {
            params,
            key,
            folder,
        }
    }

    /// The file trusted by clients.
    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn sign(&self, host: &str) -> Signed {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![host.to_owned()]).unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        Signed {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

fn url(variable: &str, settings: &str) -> String {
    let server = std::env::var(variable).unwrap_or_else(|_| {
        panic!("{variable} is set; bin/test starts the servers that tests need")
    });
    format!("{server}?{settings}")
}

fn mysql(variable: &str, settings: &str) -> Result<Mysql, DbError> {
    schema_db::mysql::connect(&MysqlAddress::from_url(&url(variable, settings))?)
}

fn postgres(variable: &str, settings: &str) -> Result<Postgres, DbError> {
    schema_db::postgres::connect(&PostgresAddress {
        url: Some(url(variable, settings)),
        ..PostgresAddress::default()
    })
}

/// Returns the first value of a query.
fn ask(database: &mut dyn Database, sql: &str) -> String {
    let mut rows = database.query(sql).unwrap();
    rows.remove(0).pop().flatten().unwrap_or_default()
}

fn is_secure_mysql(settings: &str, variable: &str) -> bool {
    let mut database = mysql(variable, settings)
        .unwrap_or_else(|error| panic!("{variable} with {settings}: {error:?}"));
    database.export().unwrap();
    !ask(&mut database, "SHOW SESSION STATUS LIKE 'Ssl_cipher'").is_empty()
}

fn refused<T>(connected: Result<T, DbError>, words: &str) {
    let error = connected.err().expect("the connection is refused");
    assert!(error.message.contains(words), "{error:?}");
}

/// Installs a certificate on MySQL. The server writes the files itself, since its folders may not
/// be visible here.
fn certify_mysql(admin: &mut Mysql, signed: &Signed, host: &str) {
    let folder = ask(admin, "SELECT @@datadir");
    for (name, text) in [("cert", &signed.certificate), ("key", &signed.key)] {
        let path = format!("{folder}{host}-{}-{name}.pem", std::process::id());
        admin
            .execute(&format!("SELECT '{text}' INTO DUMPFILE '{path}'"))
            .unwrap();
        admin
            .execute(&format!("SET GLOBAL ssl_{name} = '{path}'"))
            .unwrap();
    }
    admin.execute("ALTER INSTANCE RELOAD TLS").unwrap();
}

#[test]
fn mysql_is_spoken_to_as_securely_as_asked() {
    const MYSQL: &str = "HAKARU_TEST_MYSQL_URL";
    let (authority, stranger) = (Authority::new(), Authority::new());
    let trusted = format!("ssl-ca={}", authority.file().display());
    let mut admin = mysql(MYSQL, "ssl-mode=DISABLED").unwrap();
    certify_mysql(&mut admin, &authority.sign(ELSEWHERE), ELSEWHERE);
    assert!(!is_secure_mysql("ssl-mode=DISABLED", MYSQL));
    assert!(is_secure_mysql("ssl-mode=PREFERRED", MYSQL));
    assert!(is_secure_mysql("ssl_mode=required", MYSQL));
    assert!(is_secure_mysql(
        &format!("ssl-mode=VERIFY_CA&{trusted}"),
        MYSQL
    ));
    let host = format!("ssl-mode=VERIFY_IDENTITY&{trusted}");
    refused(mysql(MYSQL, &host), "certificate");
    certify_mysql(&mut admin, &authority.sign("127.0.0.1"), "here");
    assert!(is_secure_mysql(&host, MYSQL));
    assert!(is_secure_mysql(&trusted, MYSQL));
    let others = format!("ssl-ca={}", stranger.file().display());
    refused(mysql(MYSQL, &others), "certificate");
    refused(mysql(MYSQL, "ssl-mode=VERIFY_CA"), "certificate");
    refused(mysql(MYSQL, "ssl-ca=no/such/file.pem"), "no/such/file.pem");
}

#[test]
fn mariadb_is_spoken_to_with_what_it_has() {
    // The newer one makes a certificate for itself.
    const NEWER: &str = "HAKARU_TEST_MARIADB118_URL";
    assert!(is_secure_mysql("", NEWER));
    refused(mysql(NEWER, "ssl-mode=VERIFY_CA"), "certificate");
    const OLDER: &str = "HAKARU_TEST_MARIADB_URL";
    assert!(!is_secure_mysql("", OLDER));
    refused(mysql(OLDER, "ssl-mode=REQUIRED"), "speaks no TLS");
}

/// Installs a certificate on PostgreSQL. The key must be in a file owned by the server and
/// unreadable for others.
fn certify_postgres(admin: &mut Postgres, signed: &Signed, host: &str) {
    let folder = PathBuf::from(ask(admin, "SHOW data_directory"));
    let owner = fs::metadata(&folder).unwrap();
    for (name, text) in [("cert", &signed.certificate), ("key", &signed.key)] {
        let file = format!("{host}-{}-{name}.pem", std::process::id());
        let path: &Path = &folder.join(&file);
        fs::write(path, text).unwrap();
        fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
        if fs::metadata(path).unwrap().uid() != owner.uid() {
            chown(path, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        admin
            .execute(&format!("ALTER SYSTEM SET ssl_{name}_file = '{file}'"))
            .unwrap();
    }
    admin.execute("ALTER SYSTEM SET ssl = on").unwrap();
    admin.query("SELECT pg_reload_conf()").unwrap();
}

fn is_secure_postgres(settings: &str) -> bool {
    let mut database = postgres("HAKARU_TEST_POSTGRES_URL", settings)
        .unwrap_or_else(|error| panic!("{settings}: {error:?}"));
    database.export().unwrap();
    let sql = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    ask(&mut database, sql) == "true"
}

/// Whether the connection for plans and settings is secure, too.
fn is_secure_catalogue(settings: &str) -> bool {
    let url = url("HAKARU_TEST_POSTGRES_URL", settings);
    let mut catalogue = Catalogue::open(&url, ExplainLimits::default())
        .unwrap_or_else(|error| panic!("{settings}: {error}"));
    let sql = "SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    catalogue.rows(sql).unwrap() == [[Some("true".to_owned())]]
}

fn wait_for_postgres(settings: &str) {
    let deadline = Instant::now() + PATIENCE;
    while postgres("HAKARU_TEST_POSTGRES_URL", settings).is_err() {
        assert!(Instant::now() < deadline, "{settings} is never taken");
        std::thread::yield_now();
    }
}

#[test]
fn postgres_is_spoken_to_as_securely_as_asked() {
    const POSTGRES: &str = "HAKARU_TEST_POSTGRES_URL";
    let (authority, stranger) = (Authority::new(), Authority::new());
    let trusted = format!("sslrootcert={}", authority.file().display());
    let mut admin = postgres(POSTGRES, "sslmode=disable").unwrap();
    refused(postgres(POSTGRES, "sslmode=require"), "TLS");
    assert!(!is_secure_postgres("sslmode=prefer"));
    certify_postgres(&mut admin, &authority.sign(ELSEWHERE), ELSEWHERE);
    wait_for_postgres("sslmode=require");
    assert!(is_secure_postgres("sslmode=require"));
    assert!(is_secure_postgres("sslmode=prefer"));
    assert!(!is_secure_postgres("sslmode=disable"));
    assert!(is_secure_postgres(&format!("sslmode=verify-ca&{trusted}")));
    let host = format!("sslmode=verify-full&{trusted}");
    refused(postgres(POSTGRES, &host), "certificate");
    certify_postgres(&mut admin, &authority.sign("127.0.0.1"), "here");
    wait_for_postgres(&host);
    assert!(is_secure_postgres(&host));
    assert!(is_secure_catalogue(&host));
    let others = format!("sslmode=require&sslrootcert={}", stranger.file().display());
    refused(postgres(POSTGRES, &others), "certificate");
    refused(postgres(POSTGRES, "sslmode=verify-ca"), "certificate");
    let missing = "sslmode=verify-ca&sslrootcert=no/such/file.pem";
    refused(postgres(POSTGRES, missing), "no/such/file.pem");
    for setting in ["ssl", "ssl_cert_file", "ssl_key_file"] {
        admin
            .execute(&format!("ALTER SYSTEM RESET {setting}"))
            .unwrap();
    }
    admin.query("SELECT pg_reload_conf()").unwrap();
}
