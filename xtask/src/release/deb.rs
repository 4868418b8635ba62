//! A Debian package: an `ar` archive of two compressed archives. Pure.

/// Returns the package's `control`: names, numbers and the required C library.
pub(super) fn control(version: &str, machine: &str, size_kb: u64) -> String {
    let (major, minor) = super::elf::GLIBC_MAX;
    format!(
        "Package: hakaru\nVersion: {version}\nArchitecture: {machine}\nMaintainer: Hakaru <noreply@localhost>\n\
         Installed-Size: {size_kb}\nDepends: libc6 (>= {major}.{minor}), libgcc-s1\nSection: devel\nPriority: optional\n\
         Description: finds out why a web application is slow\n Starts a Ruby or Rails application, puts it under load, watches every request\n \
         from inside the Ruby process, and says where the time goes and what to fix\n first. Nothing is added to the application.\n"
    )
}

/// Returns the package made of both parts; `time_s` is seconds since 1970.
pub(super) fn archive(time_s: &str, control: &[u8], data: &[u8]) -> Vec<u8> {
    let mut all = b"!<arch>\n".to_vec();
    let members = [
        ("debian-binary", &b"2.0\n"[..]),
        ("control.tar.gz", control),
        ("data.tar.gz", data),
    ];
    for (name, content) in members {
        let head = format!(
            "{name:<16}{time_s:<12}0     0     100644  {:<10}`\n",
            content.len()
        );
        all.extend_from_slice(head.as_bytes());
        all.extend_from_slice(content);
        // Members begin at even offsets.
        if content.len() % 2 == 1 {
            all.push(b'\n');
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_sixty_bytes_and_members_begin_at_even_offsets() {
        let archive = archive("1700000000", b"odd", b"even");
        assert_eq!(archive.len(), 8 + 3 * 60 + 4 + 4 + 4);
        let second = &archive[8 + 60 + 4..];
        assert!(
            second
                .starts_with(b"control.tar.gz  1700000000  0     0     100644  3         `\nodd\n")
        );
    }
}
