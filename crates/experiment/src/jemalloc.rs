//! jemalloc in place of the C library's allocator: the library of the system, and whether an app
//! has loaded it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The library's name, the same since jemalloc 4 of 2015.
const NAME: &str = "libjemalloc.so.2";
/// Where distributions put libraries.
const FOLDERS: [&str; 4] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
];
/// The linker's cache, which names libraries of further folders too.
const CACHE: &str = "/etc/ld.so.cache";
/// The variable with libraries loaded before all others.
pub(crate) const VARIABLE: &str = "LD_PRELOAD";
/// Separators of the variable's libraries.
const SEPARATORS: [char; 2] = [':', ' '];

/// Returns the library's path; `None` where not installed.
pub(crate) fn installed() -> Option<PathBuf> {
    let cache = fs::read(CACHE).unwrap_or_default();
    find(&FOLDERS.map(Path::new), &cache)
}

/// Returns the first library for the processor of the program, in the folders and then in the
/// cache.
fn find(folders: &[&Path], cache: &[u8]) -> Option<PathBuf> {
    let own = Machine::of(Path::new("/proc/self/exe"));
    let in_folders = folders.iter().map(|folder| folder.join(NAME));
    let mut found = in_folders.chain(in_cache(cache));
    found.find(|path| {
        let of = Machine::of(path);
        of.is_some() && of == own
    })
}

/// Returns the library's paths in the linker's cache, a file with zeros after each name.
fn in_cache(cache: &[u8]) -> impl Iterator<Item = PathBuf> {
    let texts = cache.split(|byte| *byte == 0);
    let paths = texts
        .filter_map(|text| std::str::from_utf8(text).ok())
        .filter(|text| text.starts_with('/') && !text.contains(SEPARATORS))
        .map(Path::new);
    paths
        .filter(|path| path.file_name().is_some_and(|name| name == NAME))
        .map(Path::to_path_buf)
}

/// The kind of machine code in a file (ELF): class and processor. A system may have libraries for
/// 32 and for 64 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Machine {
    class: u8,
    processor: [u8; 2],
}

impl Machine {
    /// Returns the kind; `None` for a file which cannot be read or is too short.
    fn of(path: &Path) -> Option<Machine> {
        let mut header = [0; 20];
        File::open(path).ok()?.read_exact(&mut header).ok()?;
        header.starts_with(b"\x7fELF").then_some(Machine {
            class: header[4],
            processor: [header[18], header[19]],
        })
    }
}

/// Returns the variable's value with the library before the app's own ones: of several allocators,
/// the first is used.
pub(crate) fn before(library: &Path, own: Option<&str>) -> String {
    let library = library.display();
    match own.map(str::trim).filter(|own| !own.is_empty()) {
        Some(own) => format!("{library}:{own}"),
        None => library.to_string(),
    }
}

/// Whether libraries loaded before all others include jemalloc.
pub(crate) fn is_in(libraries: &str) -> bool {
    libraries
        .split(SEPARATORS)
        .any(|library| library.contains("jemalloc"))
}

/// Whether the largest of the processes has loaded the library; `None` where unreadable. The linker
/// only warns of a library that it cannot load, and goes on without; a start script may have set
/// the variable again.
pub(crate) fn is_loaded(pids: &[u32], library: &Path) -> Option<bool> {
    let resident = |pid: u32| {
        let pages = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        pages.split(' ').nth(1)?.parse::<u64>().ok()
    };
    let largest = pids.iter().max_by_key(|pid| resident(**pid))?;
    let maps = fs::read_to_string(format!("/proc/{largest}/maps")).ok()?;
    // The file's name: the path may lead over links.
    let real = fs::canonicalize(library).unwrap_or_else(|_| library.to_path_buf());
    let name = real.file_name()?.to_string_lossy().into_owned();
    (!maps.is_empty()).then(|| maps.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library with the header of the running program, or of one for 32 bits.
    fn library(folder: &Path, is_fit: bool) -> PathBuf {
        fs::create_dir_all(folder).expect("a folder");
        let mut header = [0; 64];
        let mut own = File::open("/proc/self/exe").expect("this program");
        own.read_exact(&mut header).expect("a header");
        if !is_fit {
            header[4] = 1;
        }
        let path = folder.join(NAME);
        fs::write(&path, header).expect("a file");
        path
    }

    #[test]
    fn the_library_is_found_in_folders_and_in_the_linkers_cache() {
        let folder = tempfile::tempdir().expect("a folder");
        let [narrow, usual, further] =
            ["narrow", "usual", "further"].map(|name| folder.path().join(name));
        library(&narrow, false);
        let folders = [narrow.as_path(), usual.as_path()];
        assert_eq!(find(&folders, b""), None);
        let listed = library(&further, true);
        let cache = format!(
            "glibc-ld.so.cache1.1\0\u{1}\0/lib/libc.so.6\0{}\0{}\0/opt/libjemalloc.so.2.1\0",
            narrow.join(NAME).display(),
            listed.display()
        );
        assert_eq!(find(&folders, cache.as_bytes()), Some(listed));
        let first = library(&usual, true);
        assert_eq!(find(&folders, cache.as_bytes()), Some(first));
    }

    #[test]
    fn libraries_of_the_app_stay_behind() {
        let check = |own: Option<&str>, expected: &str| {
            assert_eq!(before(Path::new("/lib/j.so"), own), expected);
        };
        check(None, "/lib/j.so");
        check(Some(" "), "/lib/j.so");
        check(Some("/lib/a.so /lib/b.so"), "/lib/j.so:/lib/a.so /lib/b.so");
        assert!(is_in("/lib/a.so:/usr/lib/libjemalloc.so.2"));
        assert!(!is_in("/lib/libmimalloc.so"));
    }

    #[test]
    fn a_library_that_was_not_loaded_is_noticed() {
        let pids = [std::process::id()];
        assert_eq!(
            is_loaded(&pids, Path::new("/lib/no-such-allocator.so")),
            Some(false)
        );
        let own = fs::read_link("/proc/self/exe").expect("this program");
        assert_eq!(is_loaded(&pids, &own), Some(true));
        assert_eq!(is_loaded(&[], &own), None);
    }
}
