//! The tested Rubies, Pumas and modes, and the programs of each as found by tests in `PATH`.

use std::path::{Path, PathBuf};

use super::build::{self, Built};
use super::names::{self, Mode, Server, may_be};
use super::place;
use crate::run::Outcome;
use crate::setup::{self, matrix};

/// One Ruby with one server in one mode.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) ruby: String,
    pub(super) server: Server,
    /// Of the server.
    version: String,
    pub(super) mode: Mode,
    /// Whether the Ruby has events of threads waiting for the GVL (3.2 and later).
    pub(super) has_events: bool,
    /// Whether the driver with which the parts of a handler are tested was to be had.
    pub(super) has_mysql2: bool,
    /// The script setting the libraries and running Ruby.
    ruby_program: PathBuf,
    server_program: PathBuf,
}

impl Row {
    /// Returns the name for `--only`: `3.3.8 × Puma 6.6.0 single`.
    pub(super) fn name(&self) -> String {
        names::name(&self.ruby, &self.server(), self.mode.name)
    }

    /// Returns the name and version of the server: `Puma 6.6.0`.
    pub(super) fn server(&self) -> String {
        format!("{:?} {}", self.server, self.version)
    }

    /// Writes `ruby` and `puma` of the row into a folder and returns the folder.
    pub(super) fn write_programs(&self) -> Outcome<PathBuf> {
        let name: String = self
            .name()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let folder = place().join("rows").join(name);
        let ruby = ruby_script(&self.ruby_program, &self.mode);
        setup::write_script(&folder.join("ruby"), &ruby)?;
        let server = match self.server {
            Server::Puma => puma_script(&folder.join("ruby"), &self.server_program, &self.mode),
            Server::Unicorn => unicorn_script(&folder.join("ruby"), &self.server_program),
        };
        setup::write_script(&folder.join("puma"), &server)?;
        Ok(folder)
    }
}

fn ruby_script(program: &Path, mode: &Mode) -> String {
    let program = program.display();
    format!("#!/bin/sh\nexec '{program}' {} \"$@\"\n", mode.ruby)
}

fn puma_script(ruby: &Path, puma: &Path, mode: &Mode) -> String {
    let (ruby, puma) = (ruby.display(), puma.display());
    format!(
        "#!/bin/sh\ncase \" $* \" in *' -w '*) ;; *) set -- {} \"$@\" ;; esac\nexec '{ruby}' '{puma}' \"$@\"\n",
        mode.puma
    )
}

/// Takes Puma's flags as given by the tests, and prints Puma's lines once Unicorn is ready. As many
/// requests as threads are answered at once, by workers.
const UNICORN: &str = r#"#!/bin/sh
workers=1 threads=1 preload=false address=
while [ $# -gt 1 ]; do
    case "$1" in
        -w) workers=$2; shift ;;
        -t) threads=${2%:*}; shift ;;
        -b) address=${2#tcp://}; shift ;;
        --preload) preload=true ;;
    esac
    shift
done
[ "$workers" -gt 1 ] || workers=$threads
cat > unicorn.rb <<END
worker_processes $workers
preload_app $preload
listen "$address"
after_worker_ready do |_, worker|
  \$stdout.write("- Worker #{worker.nr} booted in 0 s
Use Ctrl-C to stop
")
  \$stdout.flush
end
END
# Unicorn reads a file as the second line of one; Rack keeps the lines as they are.
cat > unicorn.ru <<END
app = Rack::Builder.parse_file("$1")
run app.is_a?(Array) ? app.first : app
END
exec '@RUBY@' '@UNICORN@' -E production -c unicorn.rb unicorn.ru
"#;

fn unicorn_script(ruby: &Path, unicorn: &Path) -> String {
    UNICORN
        .replace("@RUBY@", &ruby.display().to_string())
        .replace("@UNICORN@", &unicorn.display().to_string())
}

/// Returns the rows with a text in the name, or the only row of exactly the given name; and the
/// names of what could not be had.
///
/// Rubies that the text excludes are neither fetched nor built.
pub(super) fn chosen(archives: Option<&Path>, only: &str) -> Outcome<(Vec<Row>, Vec<String>)> {
    let (rows, missing) = all(archives, only)?;
    let exact: Vec<Row> = rows
        .iter()
        .filter(|row| row.name() == only)
        .cloned()
        .collect();
    if !exact.is_empty() {
        return Ok((exact, missing));
    }
    let with_text = rows.into_iter().filter(|row| row.name().contains(only));
    Ok((with_text.collect(), missing))
}

fn all(archives: Option<&Path>, only: &str) -> Outcome<(Vec<Row>, Vec<String>)> {
    let (mut rows, mut missing) = (Vec::new(), names::missing(archives));
    let pumas = build::pumas(archives)?;
    for unpacked in matrix::unpack(&|ruby| may_be(ruby, only))? {
        match unpacked.and_then(|found| of_packages(&found, &pumas, archives)) {
            Ok(found) => rows.extend(found),
            Err(name) => missing.push(name),
        }
    }
    let Some(folder) = archives else {
        return Ok((sorted(rows), missing));
    };
    let wanted = build::rubies(folder)?;
    for archive in wanted.iter().filter(|one| may_be(&one.version, only)) {
        match build::of_archive(archive, &pumas, archives) {
            Ok(built) => rows.extend(of_built(&built, false)),
            Err(error) => missing.push(format!("Ruby {} ({error})", archive.version)),
        }
    }
    Ok((sorted(rows), missing))
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| names::order(&row.ruby, &row.server(), row.mode.name));
    rows
}

/// Servers packaged by a release, and where there are headers, Pumas built for the release's Ruby.
fn of_packages(
    found: &matrix::Unpacked,
    pumas: &[build::Source],
    archives: Option<&Path>,
) -> Outcome<Vec<Row>> {
    let versions = &found.versions;
    let row = |(server, version, mode): (Server, String, Mode)| Row {
        ruby: versions.ruby.clone(),
        server,
        version,
        mode,
        has_events: names::has_events(versions),
        has_mysql2: true,
        ruby_program: found.programs.join("ruby"),
        server_program: found.programs.join(format!("{server:?}").to_lowercase()),
    };
    let mut rows: Vec<Row> = names::packaged(versions).into_iter().map(row).collect();
    let mut others = pumas.to_vec();
    others.retain(|puma| names::is_built_for(versions, &puma.version));
    if !others.is_empty() {
        let built = build::of_packages(found, &others, archives)?;
        rows.extend(of_built(&built, versions.puma.is_some()));
    }
    Ok(rows)
}

fn of_built(built: &Built, is_beside_packaged: bool) -> Vec<Row> {
    let versions = built.pumas.iter().map(|puma| puma.version.as_str());
    let knows = |flag: &str| built.knows(flag);
    let named = names::built(&versions.collect::<Vec<_>>(), is_beside_packaged, &knows);
    let row = |(index, mode): (usize, Mode)| Row {
        ruby: built.version.clone(),
        server: Server::Puma,
        version: built.pumas[index].version.clone(),
        mode,
        has_events: true,
        has_mysql2: built.has_mysql2,
        ruby_program: built.pumas[index].ruby.clone(),
        server_program: built.pumas[index].program.clone(),
    };
    named.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::names::{YJIT_CLUSTER, ZJIT};
    use super::*;

    #[test]
    fn a_cluster_that_a_test_asks_for_is_left_as_it_is() {
        let script = puma_script(Path::new("/r"), Path::new("/p"), &YJIT_CLUSTER);
        assert!(script.contains("*' -w '*) ;;"), "{script}");
        assert!(script.contains("set -- -w 1 \"$@\""), "{script}");
        assert!(script.ends_with("exec '/r' '/p' \"$@\"\n"), "{script}");
    }

    #[test]
    fn a_mode_reaches_ruby_by_its_flag() {
        let ruby = Path::new("/r");
        assert!(ruby_script(ruby, &ZJIT).contains("exec '/r' --zjit"));
    }
}
