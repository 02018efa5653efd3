#!/usr/bin/env bash
# Everything that there is to check, from a fresh machine with Rust on it. Ends with "all checks passed" or with what failed.
set -euo pipefail
cd "$(dirname "$0")"

readonly robot=thumbv7em-none-eabihf # the boards' processor
readonly smallest=thumbv6m-none-eabi # no floating-point unit, no atomic swaps: what the core must still build for

step() { printf '\n== %s\n' "$*"; }

step "tools"
if command -v rustup >/dev/null; then
  rustup component add rustfmt clippy >/dev/null
  rustup target add "$robot" "$smallest"
fi
if ! command -v qemu-system-arm >/dev/null; then
  if command -v apt-get >/dev/null; then
    as_root=()
    if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
    "${as_root[@]}" apt-get update
    "${as_root[@]}" apt-get install --yes --no-install-recommends qemu-system-arm
  else
    echo "test.sh: install QEMU for ARM (qemu-system-arm) and run this again; on macOS: brew install qemu" >&2
    exit 1
  fi
fi
qemu-system-arm --version | head -n 1
cargo --version

step "formatting"
cargo fmt --all -- --check

step "the core builds for every processor, with and without its log"
for target in "$robot" "$smallest"; do
  cargo build -p wdgnn-core --release --target "$target"
  cargo build -p wdgnn-core --release --target "$target" --features defmt
done

step "lints: host"
cargo clippy --all-targets --features system-tests/emulated -- -D warnings
cargo clippy -p firmware --lib --tests -- -D warnings

step "lints: boards"
cargo clippy -p firmware --release --target "$robot" -- -D warnings

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

step "tests: host, and robots in the emulator"
cargo test -p firmware --lib
cargo test --features system-tests/emulated

printf '\ntest.sh: all checks passed\n'
