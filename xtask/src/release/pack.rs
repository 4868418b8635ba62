//! Lays out the built files and packs the archive, the Debian package, and the list of parts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::build::{Built, this_machine};
use super::{deb, sbom};
use crate::run::{Outcome, capture, cargo, root, run, target_folder, write};

/// The file with the checksums.
pub(super) const SUMS: &str = "SHA256SUMS";

/// Files for people.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) archive: PathBuf,
    pub(super) package: PathBuf,
    pub(super) list: PathBuf,
}

impl Made {
    pub(super) fn all(&self) -> [PathBuf; 3] {
        [&self.archive, &self.package, &self.list].map(PathBuf::clone)
    }
}

/// An image with the program and nothing else, for copying into another image.
const DOCKERFILE: &str = "# The program alone, for the Dockerfile of an application:\n\
    #     COPY --from=hakaru /hakaru /usr/local/bin/hakaru\n\
    # It needs the C library of the image it is copied into: glibc 2.31 or later.\n\
    FROM scratch\nCOPY hakaru /hakaru\n";

/// Completion scripts: the shell, and the path searched by the shell.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    (
        "bash",
        "hakaru.bash",
        "usr/share/bash-completion/completions/hakaru",
    ),
    ("zsh", "_hakaru", "usr/share/zsh/vendor-completions/_hakaru"),
    (
        "fish",
        "hakaru.fish",
        "usr/share/fish/vendor_completions.d/hakaru.fish",
    ),
];

pub(super) fn pack(built: &Built, folder: &Path) -> Outcome<Made> {
    let machine = built.machine;
    let name = format!("hakaru-{}-{}", built.version, machine.target);
    let stage = target_folder().join("release-stage").join(machine.target);
    let _ = fs::remove_dir_all(&stage);
    let (list, licences) = sbom::write(machine.target)?;
    let (tree, debian) = (stage.join("archive").join(&name), stage.join("debian"));
    lay_out(built, &tree, &licences)?;
    write(&tree.join("sbom.cdx.json"), &list)?;
    lay_out_debian(&tree, &debian)?;

    fs::create_dir_all(folder).map_err(|error| cannot("make", folder, &error))?;
    let made = Made {
        archive: folder.join(format!("{name}.tar.gz")),
        package: folder.join(format!("hakaru_{}_{}.deb", built.version, machine.debian)),
        list: folder.join(format!("{name}.cdx.json")),
    };
    write(&made.list, &list)?;
    tar(&stage.join("archive"), &name, &made.archive, &built.time_s)?;
    let size_kb = size(&debian) / 1024;
    write(
        &stage.join("control/control"),
        &deb::control(&built.version, machine.debian, size_kb),
    )?;
    let packed = |part: &str| {
        let file = stage.join(format!("{part}.tar.gz"));
        tar(&stage.join(part), ".", &file, &built.time_s)?;
        fs::read(&file).map_err(|error| cannot("read", &file, &error))
    };
    let package = deb::archive(&built.time_s, &packed("control")?, &packed("debian")?);
    fs::write(&made.package, package).map_err(|error| cannot("write", &made.package, &error))?;
    Ok(made)
}

/// Writes the checksums of all files in a folder.
pub(super) fn sums(folder: &Path) -> Outcome<()> {
    let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<_> = names.filter(|name| name != SUMS).collect();
    names.sort();
    let mut sums = Command::new("sha256sum");
    write(
        &folder.join(SUMS),
        &capture(sums.current_dir(folder).args(names))?,
    )
}

/// The archive's folder.
fn lay_out(built: &Built, tree: &Path, licences: &str) -> Outcome<()> {
    let teller = teller(built)?;
    copy(&built.program, &tree.join("hakaru"))?;
    for name in ["README.md", "README.ja.md", "LICENSE", "CHANGELOG.md"] {
        copy(&root().join(name), &tree.join(name))?;
    }
    write(&tree.join("Dockerfile"), DOCKERFILE)?;
    write(&tree.join("LICENSES-OF-OTHERS.txt"), licences)?;
    for (shell, name, _) in COMPLETIONS {
        let script = capture(Command::new(&teller).args(["completions", shell]))?;
        write(&tree.join("completions").join(name), &script)?;
    }
    let man = tree.join("man");
    fs::create_dir_all(&man).map_err(|error| cannot("make", &man, &error))?;
    run(Command::new(&teller).arg("man").arg(&man))
}

/// The same files where Debian keeps such.
fn lay_out_debian(tree: &Path, debian: &Path) -> Outcome<()> {
    copy(&tree.join("hakaru"), &debian.join("usr/bin/hakaru"))?;
    for (_, name, place) in COMPLETIONS {
        copy(&tree.join("completions").join(name), &debian.join(place))?;
    }
    let doc = debian.join("usr/share/doc/hakaru");
    copy(&tree.join("LICENSE"), &doc.join("copyright"))?;
    for name in ["LICENSES-OF-OTHERS.txt", "sbom.cdx.json"] {
        copy(&tree.join(name), &doc.join(name))?;
    }
    let man = tree.join("man");
    let pages = fs::read_dir(&man).map_err(|error| cannot("read", &man, &error))?;
    for page in pages.flatten() {
        let place = debian.join("usr/share/man/man1").join(page.file_name());
        copy(&page.path(), &place)?;
        capture(Command::new("gzip").args(["-n", "-9"]).arg(&place))?;
    }
    Ok(())
}

/// Returns a program able to run here and print flags: the built one, or the local machine's.
fn teller(built: &Built) -> Outcome<PathBuf> {
    if built.machine == this_machine()? {
        return Ok(built.program.clone());
    }
    run(&mut cargo(&["build", "--quiet", "--package", "hakaru"]))?;
    Ok(target_folder().join("debug/hakaru"))
}

/// Packs one name of a folder, reproducibly: equal files give an equal archive.
fn tar(folder: &Path, name: &str, file: &Path, time_s: &str) -> Outcome<()> {
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    tar.args(["--format=ustar", "--mode=u=rwX,go=rX"]);
    tar.arg(format!("--mtime=@{time_s}"));
    tar.args(["--use-compress-program", "gzip -n -9"]);
    tar.arg("-C").arg(folder).arg("-cf").arg(file).arg(name);
    capture(&mut tar).map(|_| ())
}

/// Bytes of all files below a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let of = |path: PathBuf| match path.is_dir() {
        true => size(&path),
        false => path.metadata().map_or(0, |data| data.len()),
    };
    entries.map(|entry| of(entry.path())).sum()
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    let parent = to.parent().unwrap_or(to);
    fs::create_dir_all(parent)
        .and_then(|()| fs::copy(from, to))
        .map(|_| ())
        .map_err(|error| {
            format!(
                "cannot copy {} to {}: {error}",
                from.display(),
                to.display()
            )
        })
}

fn cannot(what: &str, path: &Path, error: &std::io::Error) -> String {
    format!("cannot {what} {}: {error}", path.display())
}
