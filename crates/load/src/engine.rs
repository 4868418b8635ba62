//! The kernel interface of a load, by name.

use std::fmt;

/// Kernel interface of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// io_uring where allowed by the kernel, else epoll.
    Auto,
    /// Edge-triggered epoll.
    #[default]
    Epoll,
    /// io_uring, of Linux 6.1 or later; often forbidden in containers.
    IoUring,
}

impl Engine {
    /// Returns the name, as typed by users.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Auto => "auto",
            Engine::Epoll => "epoll",
            Engine::IoUring => "io_uring",
        }
    }

    /// Reads `auto`, `epoll` or `io_uring`. The error is a sentence.
    pub fn parse(text: &str) -> Result<Engine, String> {
        let all = [Engine::Auto, Engine::Epoll, Engine::IoUring];
        let found = all.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| format!("`{text}` is no engine; there are auto, epoll and io_uring"))
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
