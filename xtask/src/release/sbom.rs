//! What the program is made of, as CycloneDX 1.5 and as the licences' own texts.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::run::{Outcome, capture, cargo, root};

/// A package inside the program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) version: String,
    licence: String,
    source: String,
    /// Whether the part belongs to the repository.
    own: bool,
}

/// Packages by name and version, and what each needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    packages: BTreeMap<String, Package>,
    needs: BTreeMap<String, BTreeSet<String>>,
}

/// Packages of npm inside the HTML page; the other ones of `web/package.json` only build the page.
const OF_THE_PAGE: [&str; 2] = ["svelte", "uplot"];

/// Returns the parts of the program and the agent inside, for a machine.
pub(super) fn parts(target: &str) -> Outcome<Parts> {
    let mut parts = Parts::default();
    for package in ["hakaru", "hakaru-agent"] {
        let mut tree = cargo(&["tree", "--locked", "--package", package, "--target", target]);
        tree.args(["-e", "normal,no-proc-macro", "--prefix", "depth"]);
        tree.args(["--no-dedupe", "--format", "{p}|{l}|{r}"]);
        parts.read_tree(&capture(&mut tree)?)?;
    }
    Ok(parts)
}

impl Parts {
    /// Reads lines such as `2clap_lex v1.1.1|MIT OR Apache-2.0|https://…`: depth, package, licence,
    /// source.
    fn read_tree(&mut self, text: &str) -> Outcome<()> {
        let mut above: Vec<String> = Vec::new();
        for line in text.lines() {
            let (depth, package) = read_line(line)
                .ok_or(format!("cargo tree printed a line unlike others: {line}"))?;
            let id = package.id();
            above.truncate(depth);
            if let Some(parent) = above.last() {
                let needs = self.needs.entry(parent.clone()).or_default();
                needs.insert(id.clone());
            }
            above.push(id.clone());
            self.packages.insert(id, package);
        }
        Ok(())
    }

    /// Returns the list as CycloneDX; `sums` holds SHA-256 by package, `page` the page's packages.
    pub(super) fn cyclone_dx(&self, sums: &BTreeMap<String, String>, page: &[Package]) -> String {
        let main = "pkg:cargo/hakaru";
        let id = |package: &Package| format!("pkg:cargo/{}@{}", package.name, package.version);
        let program = self.packages.values().find(|one| one.name == "hakaru");
        let version = program.map_or("", |program| &program.version);
        let crates = self.packages.values().map(|package| {
            let sum = sums.get(&package.id()).map(String::as_str);
            component(package, &id(package), sum)
        });
        let page = page.iter().map(|package| {
            let url = format!("pkg:npm/{}@{}", package.name, package.version);
            component(package, &url, None)
        });
        let components: Vec<String> = crates.chain(page).collect();
        let needs = self.needs.iter().map(|(from, to)| {
            let quoted = |one: &String| Some(quote(&id(self.packages.get(one)?)));
            let to: Vec<String> = to.iter().filter_map(quoted).collect();
            let from = self.packages.get(from).map(id).unwrap_or_default();
            format!(
                "    {{\"ref\": {}, \"dependsOn\": [{}]}}",
                quote(&from),
                to.join(", ")
            )
        });
        format!(
            "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"metadata\": \
             {{\"component\": {{\"type\": \"application\", \"bom-ref\": \"{main}\", \"name\": \"hakaru\", \"version\": {}}}}},\n  \
             \"components\": [\n{}\n  ],\n  \"dependencies\": [\n{}\n  ]\n}}\n",
            quote(version),
            components.join(",\n"),
            needs.collect::<Vec<_>>().join(",\n")
        )
    }

    /// Returns the names of packages and the texts of the licences shipped by the authors.
    pub(super) fn licences(&self) -> Outcome<String> {
        let sources = sources()?;
        let mut text = "Hakaru holds these packages of others. Their licences follow.\n".to_owned();
        for package in self.packages.values().filter(|package| !package.own) {
            let folder = format!("{}-{}", package.name, package.version);
            text += &format!("\n=== {folder}: {} ({})\n", package.licence, package.source);
            let places = sources.iter().map(|registry| registry.join(&folder));
            for file in places.flat_map(|place| licence_files(&place)) {
                text += &format!(
                    "\n{}\n",
                    fs::read_to_string(file).unwrap_or_default().trim()
                );
            }
        }
        Ok(text)
    }
}

impl Package {
    fn id(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

fn read_line(line: &str) -> Option<(usize, Package)> {
    let digits = line.find(|c: char| !c.is_ascii_digit())?;
    let (depth, rest) = line.split_at(digits);
    let mut fields = rest.split('|');
    let mut words = fields.next()?.split(' ');
    let package = Package {
        name: words.next()?.to_owned(),
        version: words.next()?.strip_prefix('v')?.to_owned(),
        own: words.any(|word| word.starts_with("(/")),
        licence: fields.next()?.replace('/', " OR "),
        source: fields.next().unwrap_or_default().to_owned(),
    };
    Some((depth.parse().ok()?, package))
}

fn component(package: &Package, url: &str, sum: Option<&str>) -> String {
    let sum = sum.map_or(String::new(), |sum| {
        format!(
            ", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {}}}]",
            quote(sum)
        )
    });
    let licence = if package.licence.is_empty() {
        String::new()
    } else {
        let expression = quote(&package.licence);
        format!(", \"licenses\": [{{\"expression\": {expression}}}]")
    };
    format!(
        "    {{\"type\": \"library\", \"bom-ref\": {url}, \"name\": {}, \"version\": {}, \"purl\": {url}{licence}{sum}}}",
        quote(&package.name),
        quote(&package.version),
        url = quote(url),
    )
}

fn quote(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// Reads the checksums of packages from `Cargo.lock`.
pub(super) fn sums(lock: &str) -> BTreeMap<String, String> {
    let read = |paragraph: &str| {
        let value = |name: &str| {
            let line = paragraph.lines().find_map(|line| line.strip_prefix(name))?;
            Some(line.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned())
        };
        let id = format!("{} {}", value("name")?, value("version")?);
        Some((id, value("checksum")?))
    };
    lock.split("[[package]]").filter_map(read).collect()
}

/// Reads which packages of npm the page holds from `web/package.json`.
pub(super) fn page(text: &str) -> Vec<Package> {
    let version = |name: &str| {
        let (_, rest) = text.split_once(&format!("\"{name}\": \""))?;
        Some(rest.split('"').next()?.to_owned())
    };
    let package = |name: &&str| {
        Some(Package {
            name: (*name).to_owned(),
            version: version(name)?,
            licence: "MIT".to_owned(),
            source: String::new(),
            own: false,
        })
    };
    OF_THE_PAGE.iter().filter_map(package).collect()
}

/// The folders in which cargo keeps sources of packages, one for each registry.
fn sources() -> Outcome<Vec<PathBuf>> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))
        .ok_or("neither CARGO_HOME nor HOME is set")?;
    let folder = home.join("registry/src");
    let entries = fs::read_dir(&folder)
        .map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn licence_files(package: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(package).into_iter().flatten().flatten();
    let named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(named).collect();
    files.sort();
    files
}

/// Returns both lists of parts for a machine: CycloneDX and licences.
pub(super) fn write(target: &str) -> Outcome<(String, String)> {
    let read = |name: &str| {
        let file = root().join(name);
        fs::read_to_string(&file)
            .map_err(|error| format!("cannot read {}: {error}", file.display()))
    };
    let parts = parts(target)?;
    let list = parts.cyclone_dx(
        &sums(&read("Cargo.lock")?),
        &page(&read("web/package.json")?),
    );
    Ok((list, parts.licences()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "0hakaru v0.1.0 (/src/crates/hakaru)|MIT|https://a.example\n\
        1clap v4.6.7|MIT/Apache-2.0|https://c.example\n2lex v1.1.1|MIT|\n1lex v1.1.1|MIT|\n";

    #[test]
    fn the_tree_becomes_packages_and_what_each_needs() {
        let mut parts = Parts::default();
        parts.read_tree(TREE).unwrap();
        assert_eq!(parts.packages.len(), 3);
        assert!(parts.packages["hakaru 0.1.0"].own && !parts.packages["lex 1.1.1"].own);
        assert_eq!(parts.packages["clap 4.6.7"].licence, "MIT OR Apache-2.0");
        let needs = |id: &str| parts.needs[id].iter().cloned().collect::<Vec<_>>();
        assert_eq!(needs("hakaru 0.1.0"), ["clap 4.6.7", "lex 1.1.1"]);
        assert_eq!(needs("clap 4.6.7"), ["lex 1.1.1"]);
        assert!(parts.read_tree("clap\n").is_err());
    }

    #[test]
    fn the_list_names_packages_licences_and_sums() {
        let mut parts = Parts::default();
        parts.read_tree(TREE).unwrap();
        let sums = sums(
            "[[package]]\nname = \"lex\"\nversion = \"1.1.1\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"hakaru\"\nversion = \"1\"\n",
        );
        let page = page("{\"devDependencies\": {\"svelte\": \"5.0.0\", \"vite\": \"8.0.0\"}}");
        let text = parts.cyclone_dx(&sums, &page);
        assert!(text.contains("\"content\": \"ab\""));
        assert!(text.contains("\"purl\": \"pkg:npm/svelte@5.0.0\""));
        assert!(!text.contains("vite"));
        assert!(text.contains(
            "{\"ref\": \"pkg:cargo/clap@4.6.7\", \"dependsOn\": [\"pkg:cargo/lex@1.1.1\"]}"
        ));
        assert!(text.contains("{\"expression\": \"MIT OR Apache-2.0\"}"));
    }
}
