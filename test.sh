#!/usr/bin/env bash
# Everything that there is to check, from a fresh machine with Rust on it. Ends with "all checks passed" or with what failed.
set -euo pipefail
cd "$(dirname "$0")"

readonly robot=thumbv7em-none-eabihf # the boards' processor
readonly browser=wasm32-unknown-unknown # the live page
readonly smallest=thumbv6m-none-eabi # no floating-point unit, no atomic swaps: what the core must still build for
readonly risc=riscv32imac-unknown-none-elf # an ESP32-C3's or C6's: the C library flies there, too
# What the core is checked for besides, with and without its log: 32 and 64 bits, with and without a floating-point unit.
readonly others=(thumbv7m-none-eabi thumbv8m.main-none-eabihf riscv32imc-unknown-none-elf aarch64-unknown-none)

step() { printf '\n== %s\n' "$*"; }

step "tools"
if command -v rustup >/dev/null; then
  rustup component add rustfmt clippy >/dev/null
  rustup target add "$robot" "$smallest" "$browser" "$risc" "${others[@]}"
fi
# install PROGRAM PACKAGES HINT: Debian's packages, where the program is not there yet.
install() {
  if command -v "$1" >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null; then
    echo "test.sh: install $1 and run this again; on macOS: $3" >&2
    exit 1
  fi
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  if [ -z "${updated:-}" ]; then "${as_root[@]}" apt-get update; fi
  updated=yes
  # Packages are words.
  # shellcheck disable=SC2086
  "${as_root[@]}" apt-get install --yes --no-install-recommends $2
}
install qemu-system-arm qemu-system-arm "brew install qemu"
install "${CHROMIUM:-chromium}" "chromium fonts-liberation" "brew install --cask chromium"
install python3 python3 "brew install python"
if ! python3 -c "import ensurepip" 2>/dev/null; then install ensurepip python3-venv "brew install python"; fi
install qemu-system-riscv32 qemu-system-misc "brew install qemu"
install arm-none-eabi-gcc gcc-arm-none-eabi "brew install arm-none-eabi-gcc"
install riscv64-unknown-elf-gcc gcc-riscv64-unknown-elf "brew install riscv64-elf-gcc"
install make make "xcode-select --install"
qemu-system-arm --version | head -n 1
python3 --version
cargo --version

step "formatting"
cargo fmt --all -- --check

step "core, link and robot build for every processor, with and without its log"
for target in "$robot" "$smallest"; do
  cargo build -p wdgnn-robot --release --target "$target"
  cargo build -p wdgnn-robot --release --target "$target" --features defmt
done
for target in "$browser" "$risc" "${others[@]}"; do
  cargo check -p wdgnn-robot -p wdgnn-protocol --target "$target"
  cargo check -p wdgnn-robot --target "$target" --features defmt
done

step "what is published packs"
cargo package --allow-dirty --no-verify --quiet -p wdgnn-core -p wdgnn-link -p wdgnn-robot -p wdgnn-protocol

step "lints: host"
cargo clippy --all-targets --features system-tests/emulated,system-tests/browser,system-tests/interop,system-tests/c,rendezvous/emulated -- -D warnings
cargo clippy -p wdgnn-firmware --lib --tests -- -D warnings
cargo clippy -p live --all-targets -- -D warnings
cargo clippy -p wdgnn-python --all-features -- -D warnings

step "lints: boards"
for target in "$robot" "$risc"; do
  cargo clippy -p wdgnn-c --release --target "$target" -- -D warnings
done
cargo clippy -p wdgnn-firmware --release --target "$robot" -- -D warnings
WDGNN_PROFILE=esb32 WDGNN_KEY=tests/swarm.key cargo clippy -p wdgnn-firmware --release --target "$robot" -- -D warnings
boards=() # those that are flashed: each is a folder
for map in firmware/src/board/*/map.x; do
  name=$(basename "$(dirname "$map")")
  if [ "$name" != qemu ]; then boards+=("board-${name//_/-}"); fi
done
for board in "${boards[@]}"; do
  WDGNN_UNSEALED=1 cargo clippy -p wdgnn-firmware --release --target "$robot" --no-default-features --features "$board" -- -D warnings
  WDGNN_UNSEALED=1 cargo clippy -p wdgnn-firmware --release --target "$robot" --no-default-features --features "$board,gateway" -- -D warnings
done
cargo clippy -p wdgnn-firmware --release --target "$robot" --no-default-features --features panic-never --bin no_panic -- -D warnings

step "the boards' images link, sealed or not, gateways', too, and are within their budgets"
image=${CARGO_TARGET_DIR:-target}/$robot/release/robot
for board in "${boards[@]}"; do
  WDGNN_UNSEALED=1 cargo build -p wdgnn-firmware --release --target "$robot" --no-default-features --features "$board"
  firmware/boards.py check "$image"
  WDGNN_KEY=tests/swarm.key WDGNN_PERSONAL=told cargo build -p wdgnn-firmware --release --target "$robot" --no-default-features --features "$board"
  firmware/boards.py check "$image"
  WDGNN_UNSEALED=1 cargo build -p wdgnn-firmware --release --target "$robot" --no-default-features --features "$board,gateway" --bin gateway
  firmware/boards.py check "$(dirname "$image")/gateway"
done

step "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --no-deps

step "tests: host, robots in the emulator, pages in the browser, frames in Python, swarms in C"
cargo test -p wdgnn-firmware --lib
cargo test -p live
cargo test --features system-tests/emulated,system-tests/browser,system-tests/interop,system-tests/c,rendezvous/emulated

step "tests: the Python package, from its wheel"
HOST_SIM=$(realpath "${CARGO_TARGET_DIR:-target}/debug/host-sim") python/test.sh

printf '\ntest.sh: all checks passed\n'
