//! Reads an ELF file as far as needed for a release. Pure.

/// Newest C library allowed as a requirement of the release: Debian 11's and Ubuntu 20.04's.
pub(super) const GLIBC_MAX: (u32, u32) = (2, 31);

/// Returns the highest version of glibc's symbols in what `objdump -p` prints.
pub(super) fn glibc(headers: &str) -> Option<(u32, u32)> {
    let version = |line: &str| {
        let name = line.split_whitespace().last()?;
        let (major, minor) = name.strip_prefix("GLIBC_")?.split_once('.')?;
        let minor = minor.split('.').next()?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    headers.lines().filter_map(version).max()
}

/// Returns the shared object inside the program: from the object's first byte to the program's end.
pub(super) fn shared_object_inside(program: &[u8]) -> Option<&[u8]> {
    const MAGIC: &[u8] = b"\x7fELF\x02\x01\x01";
    const SHARED: [u8; 2] = [3, 0];
    const TYPE_AT: usize = 16;
    // The machine, two bytes after the type, must be the program's own.
    let machine = program.get(TYPE_AT + 2..TYPE_AT + 4)?;
    (1..program.len().saturating_sub(64))
        .filter(|at| program[*at] == MAGIC[0] && program[*at..].starts_with(MAGIC))
        .map(|at| &program[at..])
        .find(|rest| {
            rest[TYPE_AT..].starts_with(&SHARED) && rest[TYPE_AT + 2..].starts_with(machine)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_counts_as_numbers() {
        let text = "Version References:\n  required from libc.so.6:\n    0x0 0x00 03 GLIBC_2.9\n    \
            0x1 0x00 02 GLIBC_2.28\n    0x1 0x00 02 GLIBC_2.2.5\n  required from libgcc_s.so.1:\n    0x2 0x00 05 GCC_3.3\n";
        assert_eq!(glibc(text), Some((2, 28)));
        assert_eq!(glibc("Dynamic Section:\n"), None);
    }

    #[test]
    fn an_object_inside_a_program_is_found_by_kind_and_machine() {
        let elf = |kind: u8, machine: u8| {
            let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
            bytes.resize(64, 0);
            bytes[16] = kind;
            bytes[18] = machine;
            bytes
        };
        let program = [elf(3, 62), elf(2, 62), elf(3, 183), elf(3, 62), vec![0; 64]].concat();
        assert_eq!(shared_object_inside(&program).map(<[u8]>::len), Some(128));
        assert_eq!(shared_object_inside(&program[..192]), None);
        assert_eq!(shared_object_inside(b""), None);
    }
}
