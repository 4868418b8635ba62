//! Lines added to a log between two instants, through renames, truncations and packing of files.
//!
//! A log is not a file but all files that bear its name: `access.log`, `access.log.1`,
//! `access.log.2.gz`. At the beginning each of them is opened and its length noted. From then on
//! every [`LogWindow::look`] takes what is new, in three steps:
//!
//! 1. Files that are open are read on. So a file may be renamed, written to a while longer, packed
//!    and removed: its lines are read from the file that is open. A file whose last bytes are not
//!    those that were read was truncated: what it held is kept in mind, and it is read from its
//!    start.
//! 2. A file that is new under the log's own name was made within the window: it is opened and read
//!    from its first byte.
//! 3. A file that is new under another name is a copy of one that is known (packed, or made before
//!    a truncation), or a log that came and went since the last look. Its content decides which
//!    (`print.rs`); of a copy only what goes beyond is taken.
//!
//! Lines that were begun before the window or have not ended with it are not of it. What is lost:
//! lines that were written and destroyed by a truncation between two looks without a copy.

mod content;
mod lines;
mod print;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use content::{Packed, Plain, is_packed};
use lines::Lines;
use print::{Content, Likeness, Print};

/// Greatest number of files of one log under observation.
const FILES_MAX: usize = 200;
/// Bytes read at once.
const PIECE_BYTES: usize = 256 * 1024;
const NO_FILE: &str =
    "is no regular file (a folder, a pipe or a device), so no lines of it are read; name a file";

/// Takes whole lines, many at once.
pub type Sink<'a> = dyn FnMut(&[u8]) -> io::Result<()> + 'a;

/// A log under observation from an instant on.
#[derive(Debug)]
pub struct LogWindow {
    path: PathBuf,
    known: Vec<Known>,
    /// Files held open, so the kernel gives no inode number of a remembered file to another.
    others: Vec<Other>,
    /// Files not yet recognised as copies.
    pending: Vec<Other>,
    truncations: u64,
}

/// What a window was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Files with lines of the window, certain or possible.
    pub files: u64,
    /// How often a file was truncated.
    pub truncations: u64,
    /// Lines begun without an end, or longer than a megabyte.
    pub incomplete: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Id {
    device: u64,
    inode: u64,
}

/// Content read up to an offset.
#[derive(Debug)]
struct Known {
    /// The file; `None` for content removed by a truncation.
    file: Option<(Id, File)>,
    print: Print,
    lines: Lines,
}

/// A file with content known from another file, or packed before the window.
#[derive(Debug)]
struct Other {
    id: Id,
    file: File,
    /// Length in bytes at the last comparison; at another length the file is compared again.
    bytes: u64,
}

impl LogWindow {
    /// Begins: what is in the log's files now is not of the window. A log that is not there yet may
    /// come.
    ///
    /// # Errors
    /// A file or the folder cannot be read; what bears the name is no regular file.
    pub fn begin(path: &Path) -> io::Result<LogWindow> {
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, NO_FILE));
        }
        let mut window = LogWindow {
            path: path.to_owned(),
            known: Vec::new(),
            others: Vec::new(),
            pending: Vec::new(),
            truncations: 0,
        };
        for path in window.files()? {
            let Some((id, file)) = open(&path)? else {
                continue;
            };
            // A link, as `rotatelogs -L` makes one, is another name of a file that is open.
            if window.is_open(id) || window.others.iter().any(|other| other.id == id) {
                continue;
            }
            let bytes = file.metadata()?.len();
            match is_packed(&file)? {
                true => window.others.push(Other { id, file, bytes }),
                false => window.known.push(Known::from(id, file, bytes)?),
            }
        }
        Ok(window)
    }

    /// Passes the lines added since the last look to `sink`.
    ///
    /// # Errors
    /// What a file or `sink` says.
    pub fn look(&mut self, sink: &mut Sink) -> io::Result<()> {
        self.look_at_all(sink, false)
    }

    fn look_at_all(&mut self, sink: &mut Sink, is_last: bool) -> io::Result<()> {
        self.read_on(sink)?;
        let was_pending = std::mem::take(&mut self.pending);
        let mut strangers = Vec::new();
        for path in self.files()? {
            // Who removes or renames files meanwhile has them looked at under their other names the
            // next time.
            let Some((id, file)) = open(&path)? else {
                continue;
            };
            let is_pending = was_pending.iter().any(|other| other.id == id);
            if is_pending || self.is_open(id) {
                continue;
            }
            let bytes = file.metadata()?.len();
            let other = self.others.iter().position(|other| other.id == id);
            if other.is_some_and(|index| self.others[index].bytes == bytes) {
                continue;
            }
            if let Some(index) = other {
                self.others.swap_remove(index);
            }
            match path == self.path {
                true => self.known.push(Known::from(id, file, 0)?),
                false => strangers.push(Other { id, file, bytes }),
            }
        }
        // Now all that is known was read further than any copy of it goes that was whole before.
        self.read_on(sink)?;
        for stranger in was_pending {
            self.judge(stranger, true, sink)?;
        }
        for stranger in strangers {
            self.judge(stranger, is_last, sink)?;
        }
        Ok(())
    }

    fn is_open(&self, id: Id) -> bool {
        let mut files = self.known.iter().filter_map(|known| known.file.as_ref());
        files.any(|(open, _)| *open == id)
    }

    /// Takes the last lines, and says what the window was like.
    ///
    /// # Errors
    /// As [`LogWindow::look`].
    pub fn end(mut self, sink: &mut Sink) -> io::Result<Seen> {
        self.look(sink)?;
        self.look_at_all(sink, true)?;
        let lines = || self.known.iter().map(|known| &known.lines);
        let begun = lines().filter(|lines| lines.is_inside()).count() as u64;
        Ok(Seen {
            files: self
                .known
                .iter()
                .filter(|known| known.file.is_some())
                .count() as u64,
            truncations: self.truncations,
            incomplete: begun + lines().map(|lines| lines.too_long).sum::<u64>(),
        })
    }

    fn read_on(&mut self, sink: &mut Sink) -> io::Result<()> {
        let mut truncated = Vec::new();
        for known in &mut self.known {
            if let Some(before) = known.read_on(sink)? {
                self.truncations += 1;
                truncated.push(before);
            }
        }
        self.known.append(&mut truncated);
        Ok(())
    }

    /// Finds out whether a file with another name than the log's is a copy, and reads new content.
    /// One that seems to be none is taken when it `is_sure`, which is at the next look: a copy may
    /// just be in the making.
    fn judge(&mut self, stranger: Other, is_sure: bool, sink: &mut Sink) -> io::Result<()> {
        match self.compare(&stranger, sink) {
            Ok(Likeness::Read) => self.others.push(stranger),
            Ok(Likeness::Other) if is_sure && is_packed(&stranger.file)? => {
                self.take_packed(stranger, sink)?;
            }
            Ok(Likeness::Other) if is_sure => {
                let mut known = Known::from(stranger.id, stranger.file, 0)?;
                known.read_on(sink)?;
                self.known.push(known);
            }
            Ok(Likeness::Other | Likeness::Longer) => self.pending.push(stranger),
            Err(error) if is_unfinished(&error) => self.pending.push(stranger),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Compares a file with all known content, and reads the part beyond content destroyed by a
    /// truncation. [`Likeness::Longer`] is left where the original is about to be found truncated.
    fn compare(&mut self, stranger: &Other, sink: &mut Sink) -> io::Result<Likeness> {
        let mut content: Box<dyn Content> = match is_packed(&stranger.file)? {
            true => Box::new(Packed::new(&stranger.file)?),
            false => Box::new(Plain::new(&stranger.file)?),
        };
        for known in self
            .known
            .iter_mut()
            .filter(|known| !known.print.is_blank())
        {
            let mut ahead = Vec::new();
            match known.print.compare(&mut *content, &mut ahead)? {
                Likeness::Other => {}
                Likeness::Longer if known.file.is_none() => {
                    known.take(&ahead, &mut *content, sink)?;
                    return Ok(Likeness::Read);
                }
                likeness => return Ok(likeness),
            }
        }
        Ok(Likeness::Other)
    }

    /// Reads all of a packed log created since the last look.
    fn take_packed(&mut self, stranger: Other, sink: &mut Sink) -> io::Result<()> {
        // Once to its end first: what cannot be unpacked yet must not be taken in part.
        match io::copy(&mut Packed::new(&stranger.file)?, &mut io::sink()) {
            Ok(_) => {}
            Err(error) if is_unfinished(&error) => {
                self.pending.push(stranger);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let mut known = Known {
            file: None,
            print: Print::new(0, Vec::new(), Vec::new()),
            lines: Lines::default(),
        };
        known.take(&[], &mut Packed::new(&stranger.file)?, sink)?;
        self.known.push(known);
        self.others.push(stranger);
        Ok(())
    }

    /// Returns the files of the log, also renamed and packed ones: `access.log`, `access.log.1`,
    /// `access.log-20261125.gz`.
    fn files(&self) -> io::Result<Vec<PathBuf>> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let name = self.path.file_name().unwrap_or_default();
        let mut files = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let found = entry.file_name();
            let rest = found
                .as_encoded_bytes()
                .strip_prefix(name.as_encoded_bytes());
            if rest.is_some_and(|rest| rest.is_empty() || b".-_".contains(&rest[0])) {
                files.push(folder.join(found));
            }
        }
        files.sort();
        files.truncate(FILES_MAX);
        Ok(files)
    }
}

impl Known {
    /// A file whose first `start` bytes are not of the window.
    fn from(id: Id, file: File, start: u64) -> io::Result<Known> {
        let mut first = vec![0; Print::wanted(start)];
        let mut before = first.clone();
        file.read_exact_at(&mut first, 0)?;
        let offset = start - before.len() as u64;
        file.read_exact_at(&mut before, offset)?;
        let lines = match before.last() {
            None | Some(b'\n') => Lines::default(),
            Some(_) => Lines::in_the_middle(),
        };
        Ok(Known {
            file: Some((id, file)),
            print: Print::new(start, first, before),
            lines,
        })
    }

    /// Reads the bytes added to the file; returns the former content when the file was truncated.
    fn read_on(&mut self, sink: &mut Sink) -> io::Result<Option<Known>> {
        let Some((_, file)) = &self.file else {
            return Ok(None);
        };
        let mut before = None;
        let bytes = file.metadata()?.len();
        let mut tail = vec![0; self.print.tail().len()];
        let tail_at = self.print.at - tail.len() as u64;
        let is_same = bytes >= self.print.at
            && file.read_exact_at(&mut tail, tail_at).is_ok()
            && tail == self.print.tail();
        if !is_same {
            before = Some(Known {
                file: None,
                print: std::mem::replace(&mut self.print, Print::new(0, Vec::new(), Vec::new())),
                lines: std::mem::take(&mut self.lines),
            });
        }
        let mut piece = vec![0; PIECE_BYTES.min((bytes - self.print.at.min(bytes)) as usize)];
        while self.print.at < bytes {
            let wanted = piece.len().min((bytes - self.print.at) as usize);
            let count = file.read_at(&mut piece[..wanted], self.print.at)?;
            if count == 0 {
                break;
            }
            self.print.add(&piece[..count]);
            self.lines.add(&piece[..count], sink)?;
        }
        Ok(before)
    }

    /// Takes the rest of a copy.
    fn take(&mut self, ahead: &[u8], content: &mut dyn Content, sink: &mut Sink) -> io::Result<()> {
        self.print.add(ahead);
        self.lines.add(ahead, sink)?;
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            let count = print::fill(content, &mut piece)?;
            if count == 0 {
                return Ok(());
            }
            self.print.add(&piece[..count]);
            self.lines.add(&piece[..count], sink)?;
        }
    }
}

/// Opens a file; `None` when the path is gone or names no regular file. The other end of a pipe is
/// not waited for.
fn open(path: &Path) -> io::Result<Option<(Id, File)>> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    let file = match options.read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    let id = Id {
        device: metadata.dev(),
        inode: metadata.ino(),
    };
    Ok(metadata.is_file().then_some((id, file)))
}

/// Whether a packed file is still being written.
fn is_unfinished(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof)
}
