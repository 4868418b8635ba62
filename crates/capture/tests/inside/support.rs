//! A real Puma with the agent inside, and a client numbering the requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use capture::{Rings, unpack_agent};
use recording::Handled;

/// Longest wait of a test.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub struct Puma {
    child: Child,
    pub port: u16,
    folder: tempfile::TempDir,
    pub rings: Rings,
    pub handled: Vec<Handled>,
    pub texts: Vec<(recording::TextId, String)>,
    pub runtime: Vec<recording::RuntimeSample>,
}

impl Puma {
    /// Starts Puma with `flags` on the Rack app whose source is given.
    pub fn start(flags: &[&str], app: &str) -> Puma {
        Puma::start_with(flags, app, &[])
    }

    pub fn start_with(flags: &[&str], app: &str, env: &[(&str, &str)]) -> Puma {
        Puma::start_under(&[], flags, app, env)
    }

    /// Starts Puma behind the words of `wrapper`, which must become the command.
    pub fn start_under(wrapper: &[&str], flags: &[&str], app: &str, env: &[(&str, &str)]) -> Puma {
        Puma::begin(wrapper, flags, app, env, |_| {})
    }

    /// With a look at the folder of the unpacked agent before Puma starts.
    pub fn start_prepared(
        flags: &[&str],
        app: &str,
        env: &[(&str, &str)],
        prepare: impl FnOnce(&Path),
    ) -> Puma {
        Puma::begin(&[], flags, app, env, prepare)
    }

    fn begin(
        wrapper: &[&str],
        flags: &[&str],
        app: &str,
        env: &[(&str, &str)],
        prepare: impl FnOnce(&Path),
    ) -> Puma {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let rings_folder = folder.path().join("rings");
        std::fs::create_dir(&rings_folder).expect("a folder for the rings");
        let agent = unpack_agent(&folder.path().join("agent")).expect("the agent unpacks");
        prepare(&folder.path().join("agent"));
        std::fs::write(folder.path().join("config.ru"), app).expect("config.ru is written");
        let port = free_port();
        let puma = std::env::var("HAKARU_TEST_PUMA").unwrap_or("puma".into());
        let words = [wrapper, &[&puma]].concat();
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .args(flags)
            .args(["-b", &format!("tcp://127.0.0.1:{port}"), "config.ru"])
            .current_dir(folder.path())
            .env("RUBYOPT", format!("-r{}", agent.display()))
            .env("HAKARU_RING_DIR", &rings_folder)
            .env("HAKARU_APP_ROOT", folder.path())
            .env("RACK_ENV", "production")
            .envs(env.iter().copied())
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        if env.iter().any(|(name, _)| *name == "HAKARU_STANDBY") {
            command
                .env_remove("HAKARU_RING_DIR")
                .env_remove("HAKARU_APP_ROOT");
        }
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{words:?} does not start ({error}); run bin/test, which unpacks it")
        });
        let workers = flags
            .iter()
            .position(|flag| *flag == "-w")
            .map_or(0, |at| flags[at + 1].parse().expect("a number of workers"));
        wait_until_booted(&mut child, workers);
        Puma {
            child,
            port,
            rings: Rings::new(&rings_folder),
            handled: Vec::new(),
            texts: Vec::new(),
            runtime: Vec::new(),
            folder,
        }
    }

    pub fn rings_folder(&self) -> PathBuf {
        self.folder.path().join("rings")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the complaints of all agents so far.
    pub fn troubles(&self) -> Vec<String> {
        let processes = self.rings.processes().into_iter();
        processes.flat_map(|process| process.troubles).collect()
    }

    /// Reads what the agents have written so far.
    pub fn poll(&mut self) {
        let polled = self.rings.poll();
        self.handled.extend(polled.handled);
        self.texts.extend(polled.texts);
        self.runtime.extend(polled.runtime);
    }

    /// Polls until `enough` says so. Panics when it never does.
    pub fn poll_until(&mut self, what: &str, mut enough: impl FnMut(&Puma) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.poll();
            if enough(self) {
                return;
            }
            assert!(
                Instant::now() < deadline,
                "gave up waiting for {what}: {} requests seen, agents {:?}",
                self.handled.len(),
                self.rings.processes()
            );
            std::thread::yield_now();
        }
    }

    pub fn text(&self, id: recording::TextId) -> &str {
        self.texts
            .iter()
            .find(|(known, _)| *known == id)
            .map_or("", |(_, text)| text)
    }

    pub fn connect(&self) -> Client {
        Client::connect(self.port)
    }
}

impl Drop for Puma {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.child.wait();
    }
}

fn wait_until_booted(child: &mut Child, workers: usize) {
    let stdout = child.stdout.take().expect("stdout is piped");
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    let (mut booted, mut ready) = (0, false);
    while booted < workers || !ready {
        let line = told
            .recv_timeout(PATIENCE)
            .expect("puma says that it is ready");
        booted += usize::from(line.contains(" booted in "));
        ready |= line.contains("Use Ctrl-C to stop");
    }
}

pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a free port")
        .port()
}

/// A keep-alive connection.
pub struct Client {
    reader: BufReader<TcpStream>,
    port: u16,
    closing: bool,
}

impl Client {
    pub fn connect(port: u16) -> Client {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("puma listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket option");
        stream.set_nodelay(true).expect("a socket option");
        Client {
            reader: BufReader::new(stream),
            port,
            closing: false,
        }
    }

    /// Sends one request with the given number; returns status and body, `None` for an ended
    /// connection.
    pub fn get(&mut self, path: &str, id: u64) -> Option<(u16, String)> {
        // Puma ends a connection after some requests when others wait for a thread.
        if std::mem::take(&mut self.closing) {
            *self = Client::connect(self.port);
        }
        // In one piece: a thread lets go of a connection on which it finds half a request.
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nHakaru-Request: {id:016x}\r\n\r\n");
        self.reader.get_mut().write_all(request.as_bytes()).ok()?;
        let mut line = String::new();
        self.reader
            .read_line(&mut line)
            .ok()
            .filter(|bytes| *bytes > 0)?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut is_chunked) = (None, false);
        loop {
            line.clear();
            self.reader
                .read_line(&mut line)
                .ok()
                .filter(|bytes| *bytes > 0)?;
            if line == "\r\n" {
                break;
            }
            let header = line.to_ascii_lowercase();
            self.closing |= header.trim_end() == "connection: close";
            is_chunked |= header.trim_end() == "transfer-encoding: chunked";
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse().ok()?);
            }
        }
        let mut body = vec![0; length.unwrap_or(0)];
        match length {
            // Unicorn's default middleware sends what names no length in chunks.
            None if is_chunked => body = chunks(&mut self.reader)?,
            None if self.closing => _ = self.reader.read_to_end(&mut body).ok()?,
            _ => self.reader.read_exact(&mut body).ok()?,
        }
        Some((status, String::from_utf8_lossy(&body).into_owned()))
    }
}

/// Reads a body in chunks to the end of the body; `None` where the text is not one.
fn chunks(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let size = usize::from_str_radix(line.trim_end(), 16).ok()?;
        let begin = body.len();
        body.resize(begin + size, 0);
        reader.read_exact(&mut body[begin..]).ok()?;
        line.clear();
        reader.read_line(&mut line).ok()?;
        match (size, line.as_str()) {
            (0, "\r\n") => return Some(body),
            (1.., "\r\n") => {}
            _ => return None,
        }
    }
}

#[test]
fn a_body_in_chunks_is_read_to_its_end_and_no_further() {
    let text = b"5\r\nhello\r\nA\r\n 123456789\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n";
    let mut reader = BufReader::new(&text[..]);
    assert_eq!(chunks(&mut reader).unwrap(), b"hello 123456789");
    let mut rest = String::new();
    reader.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "HTTP/1.1 200 OK\r\n");
    for wrong in ["5\r\nhel", "5\r\nhello, you", "x\r\n", ""] {
        assert_eq!(
            chunks(&mut BufReader::new(wrong.as_bytes())),
            None,
            "{wrong:?}"
        );
    }
}
