# Sourced by bin/demo and bin/test: what must be there before `cargo xtask` itself can be built.
# Installs nothing: it names what is missing and ends.
cd "$(dirname "$0")/.." || exit 1

if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
    PATH=$HOME/.cargo/bin:$PATH
fi
if ! command -v cargo >/dev/null 2>&1; then
    echo "cargo is missing: install Rust 1.95 or later (https://rustup.rs), then try again" >&2
    exit 1
fi
if ! command -v cc >/dev/null 2>&1; then
    echo "a C compiler is missing, and Rust needs its linker: install gcc and libc6-dev, then try again" >&2
    exit 1
fi
