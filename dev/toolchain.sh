# Sourced by bin/demo and bin/test: what must be there before `cargo xtask` itself can be built.
cd "$(dirname "$0")/.." || exit 1

if ! command -v cargo >/dev/null 2>&1 && [ -x "$HOME/.cargo/bin/cargo" ]; then
    PATH=$HOME/.cargo/bin:$PATH
fi
if ! command -v cargo >/dev/null 2>&1; then
    echo "cargo is missing: install Rust 1.95 or later (https://rustup.rs), then try again" >&2
    exit 1
fi
if ! command -v cc >/dev/null 2>&1; then
    echo "a C compiler is missing; Rust needs its linker: apt-get install gcc libc6-dev" >&2
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
        exit 1
    fi
    if [ -t 0 ] && [ -z "${CI:-}" ] && ! echo " $* " | grep -q ' --yes '; then
        printf 'Install these two packages? [Y/n] ' >&2
        read -r answer
        case $answer in '' | y | Y | yes) ;; *) exit 1 ;; esac
    fi
    apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev >&2 || exit 1
fi
