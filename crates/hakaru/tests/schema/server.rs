//! Scratch databases on the test servers, and a proxy with a switch to cut connections.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use schema_db::Database;
use schema_db::mysql::MysqlAddress;
use schema_db::postgres::PostgresAddress;

/// Longest wait for what a program or a server does next.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Number of the next database, so that tests in one process do not meet.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A database, dropped with the value.
pub struct Scratch {
    /// `scheme://user:password@host:port/database`.
    pub url: String,
    admin: Box<dyn Database>,
    name: String,
}

impl Scratch {
    /// Creates an empty database on the server in the variable.
    pub fn on(variable: &str) -> Scratch {
        let server = std::env::var(variable).unwrap_or_else(|_| {
            panic!("{variable} is set; bin/test starts the servers that tests need")
        });
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hakaru_test_{}_{number}", std::process::id());
        let mut admin = connect(&server);
        admin.execute(&format!("CREATE DATABASE {name}")).unwrap();
        let (before, _) = server.rsplit_once('/').unwrap();
        Scratch {
            url: format!("{before}/{name}"),
            admin,
            name,
        }
    }

    /// Executes statements.
    pub fn execute(&self, statements: &[&str]) {
        let mut database = connect(&self.url);
        for sql in statements {
            database
                .execute(sql)
                .unwrap_or_else(|error| panic!("{error:?}"));
        }
    }

    /// The first column of a query's rows.
    pub fn ask(&self, sql: &str) -> Vec<String> {
        let rows = connect(&self.url).query(sql).unwrap();
        rows.into_iter()
            .map(|mut row| row.remove(0).unwrap_or_default())
            .collect()
    }

    /// URL of the same database at another address, without TLS: a proxy at the address reads
    /// along.
    pub fn url_at(&self, address: &str) -> String {
        let (before, rest) = self.url.rsplit_once('@').unwrap();
        let (_, database) = rest.split_once('/').unwrap();
        let plain = match before.starts_with("postgres") {
            true => "sslmode=disable",
            false => "ssl-mode=DISABLED",
        };
        format!("{before}@{address}/{database}?{plain}")
    }

    fn address(&self) -> String {
        let (_, rest) = self.url.rsplit_once('@').unwrap();
        rest.split('/').next().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Leftovers go with the throw-away server.
        let _ = self.admin.execute(&format!("DROP DATABASE {}", self.name));
    }
}

/// A connection without the program between.
pub fn connect(url: &str) -> Box<dyn Database> {
    match url.starts_with("postgres") {
        true => {
            let url = Some(url.to_owned());
            let address = PostgresAddress {
                url,
                ..PostgresAddress::default()
            };
            Box::new(schema_db::postgres::connect(&address).unwrap())
        }
        false => {
            let address = MysqlAddress::from_url(url).unwrap();
            Box::new(schema_db::mysql::connect(&address).unwrap())
        }
    }
}

/// A TCP door to a server. When the client sends a certain text the door lets it through, waits
/// until the server has answered, keeps the answer, and says so.
pub struct Door {
    /// Host and port.
    pub address: String,
    reached: Receiver<()>,
    slam: Option<Sender<()>>,
}

impl Door {
    /// Opens a proxy to the server of the database.
    pub fn new(scratch: &Scratch, text: &str) -> Door {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (server, text) = (scratch.address(), text.to_owned());
        let (say_reached, reached) = channel();
        let (slam, slammed) = channel::<()>();
        thread::spawn(move || {
            let slammed = std::sync::Arc::new(std::sync::Mutex::new(slammed));
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&server) else {
                    return;
                };
                let (text, say, slammed) = (text.clone(), say_reached.clone(), slammed.clone());
                thread::spawn(move || pass(&client, &server, text.as_bytes(), &say, &slammed));
            }
        });
        Door {
            address,
            reached,
            slam: Some(slam),
        }
    }

    /// Waits until the server has answered the text.
    pub fn wait(&self) {
        self.reached
            .recv_timeout(PATIENCE)
            .expect("the text passes the door");
    }

    /// Closes every waiting connection.
    pub fn slam(&mut self) {
        self.slam = None;
    }
}

/// Carries bytes both ways over one connection.
fn pass(
    client: &TcpStream,
    server: &TcpStream,
    text: &[u8],
    say: &Sender<()>,
    slammed: &std::sync::Mutex<Receiver<()>>,
) {
    let (mut from_server, mut to_client) = (server, client);
    let hold = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = [0; 65536];
            while let Ok(count @ 1..) = from_server.read(&mut bytes) {
                if hold.load(Ordering::SeqCst) {
                    let _ = say.send(());
                    // Ends when the door is slammed: nothing is ever sent.
                    let _ = slammed.lock().unwrap().recv();
                    break;
                }
                if to_client.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.shutdown(Shutdown::Both);
        });
        let (mut from_client, mut to_server) = (client, server);
        let mut bytes = [0; 65536];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            let part = &bytes[..count];
            if part.windows(text.len()).any(|window| window == text) {
                hold.store(true, Ordering::SeqCst);
            }
            if to_server.write_all(part).is_err() {
                break;
            }
        }
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}
