#!/usr/bin/env bash
# Runs the checks of this repository.
#
#   ./test.sh              every step, on a machine with nothing but Rust installed
#   ./test.sh fast         format, lints and unit tests of the host crates
#   ./test.sh STEP...      single steps: tools format targets lints boards docs host system python unit browser c
#
# Ends with a table of times and "all checks passed", or with the step that failed.
set -euo pipefail
cd "$(dirname "$0")"

readonly robot=thumbv7em-none-eabihf       # boards
readonly smallest=thumbv6m-none-eabi       # no floating-point unit, no atomic swap
readonly browser=wasm32-unknown-unknown    # live page
readonly risc=riscv32imac-unknown-none-elf # C library
readonly others=(thumbv7m-none-eabi thumbv8m.main-none-eabihf riscv32imc-unknown-none-elf aarch64-unknown-none)
readonly portable=(-p wdgnn-core -p wdgnn-link -p wdgnn-robot -p wdgnn-protocol)
readonly system=system-tests/emulated,system-tests/browser,system-tests/interop,system-tests/c,rendezvous/emulated,coverage/emulated

# install PROGRAM PACKAGES HINT: installs Debian packages unless the program is there.
install() {
  if command -v "$1" >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null; then
    echo "test.sh: install $1 and run this script again; on macOS: $3" >&2
    exit 1
  fi
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
  if [ -z "${updated:-}" ]; then "${as_root[@]}" apt-get update; fi
  updated=yes
  # shellcheck disable=SC2086 # packages are words
  "${as_root[@]}" apt-get install --yes --no-install-recommends $2
}

tools() {
  if command -v rustup >/dev/null; then
    rustup component add rustfmt clippy >/dev/null
    rustup target add "$robot" "$smallest" "$browser" "$risc" "${others[@]}"
  fi
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
}

format() {
  cargo fmt --all -- --check
}

# The robot's crates compile for every processor, with and without their log.
targets() {
  for target in "$robot" "$smallest" "$browser" "$risc" "${others[@]}"; do
    cargo check "${portable[@]}" --target "$target"
  done
  for target in "$robot" "$smallest"; do
    cargo check "${portable[@]}" --target "$target" --features wdgnn-robot/defmt
  done
  cargo package --allow-dirty --no-verify --quiet "${portable[@]}"
}

lints() {
  cargo clippy --all-targets --features "$system" -- -D warnings
  cargo clippy -p wdgnn-firmware --lib --tests -- -D warnings
  cargo clippy -p wdgnn-live --all-targets -- -D warnings
  cargo clippy -p wdgnn-python --all-features -- -D warnings
}

# Lints of the images; the step `system` builds and boots them.
boards() {
  for target in "$robot" "$risc"; do
    cargo clippy -p wdgnn-c --release --target "$target" -- -D warnings
  done
  local firmware=(cargo clippy -p wdgnn-firmware --release --target "$robot")
  "${firmware[@]}" -- -D warnings
  WDGNN_PROFILE=esb32 WDGNN_KEY=tests/swarm.key "${firmware[@]}" -- -D warnings
  for map in firmware/src/board/*/map.x; do
    name=$(basename "$(dirname "$map")")
    if [ "$name" = qemu ]; then continue; fi
    for features in "board-${name//_/-}" "board-${name//_/-},gateway"; do
      WDGNN_UNSEALED=1 "${firmware[@]}" --no-default-features --features "$features" -- -D warnings
    done
  done
  "${firmware[@]}" --no-default-features --features panic-never --bin no_panic -- -D warnings
}

docs() {
  RUSTDOCFLAGS="-D warnings" cargo doc --no-deps
}

# Tests of the host crates: nothing but Rust is needed.
host() {
  cargo test --workspace --exclude wdgnn-firmware --exclude wdgnn-live --exclude wdgnn-python --exclude system-tests
  cargo test -p wdgnn-firmware --lib
  cargo test -p wdgnn-live
}

unit() {
  cargo test --workspace --exclude wdgnn-firmware --exclude wdgnn-live --exclude wdgnn-python --lib
}

# Tests across crates: emulated robots, pages in a browser, frames in Python, swarms in C.
system() {
  cargo test -p system-tests -p rendezvous -p coverage --features "$system"
}

browser() {
  cargo test -p system-tests --features system-tests/browser -- page live
}

c() {
  cargo test -p system-tests --features system-tests/c -- c_library
}

# The Python package, from its wheel.
python() {
  cargo build -p host-sim
  HOST_SIM=$(realpath "${CARGO_TARGET_DIR:-target}/debug/host-sim") bindings/python/test.sh
}

case "${1:-all}" in
all) steps=(tools format targets lints boards docs host system python) ;;
fast) steps=(format lints unit) ;;
*) steps=("$@") ;;
esac
times="" step=""
trap 'code=$?; if [ $code -eq 1 ] || [ $code -gt 2 ]; then echo "test.sh: step $step failed" >&2; fi' EXIT
for step in "${steps[@]}"; do
  case "$step" in
  tools | format | targets | lints | boards | docs | host | unit | system | python | browser | c) ;;
  *)
    echo "test.sh: there is no step '$step'; see the head of this file" >&2
    exit 2
    ;;
  esac
  printf '\n== %s\n' "$step"
  began=$SECONDS
  "$step"
  times+=$(printf '%-8s %4d s' "$step" $((SECONDS - began)))$'\n'
done
printf '\n%s\ntest.sh: all checks passed in %d s\n' "$times" "$SECONDS"
