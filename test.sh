#!/usr/bin/env bash
# Runs the checks of this repository.
#
#   ./test.sh              all checks that a change must pass, on a machine with nothing but Rust installed
#   ./test.sh fast         format, lints and unit tests of the host crates
#   ./test.sh full         all checks, and the longer ones: every processor, every board's lints, the optimized wheel
#   ./test.sh STEP...      single steps: tools format lints targets boards docs build tests python
#                          tracker unit browser c processors images wheel
#
# Ends with a table of times and "all checks passed", or with the step that failed.
#
# Steps that compile for the host select all packages with one set of features. Otherwise cargo compiles shared crates again
# for every other set.
set -euo pipefail
cd "$(dirname "$0")"

readonly robot=thumbv7em-none-eabihf       # boards
readonly smallest=thumbv6m-none-eabi       # no floating-point unit, no atomic swap
readonly browser=wasm32-unknown-unknown    # live page
readonly risc=riscv32imac-unknown-none-elf # C library
readonly others=(thumbv7m-none-eabi thumbv8m.main-none-eabihf riscv32imc-unknown-none-elf aarch64-unknown-none)
readonly portable=(-p wdgnn-core -p wdgnn-link -p wdgnn-robot -p wdgnn-protocol -p wdgnn-drive)
readonly host=(--workspace --features
  system-tests/emulated,system-tests/browser,system-tests/interop,system-tests/c,rendezvous/emulated,coverage/emulated)
readonly firmware=(cargo clippy -p wdgnn-firmware --release --target "$robot")
readonly programs=${CARGO_TARGET_DIR:-target}/debug
# The Python module needs no library of Python to link.
export PYO3_BUILD_EXTENSION_MODULE=1

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
    rustup target add "$robot" "$smallest" "$browser" "$risc"
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

# Firmware programs do not compile for the host; `boards` has them.
lints() {
  cargo clippy "${host[@]}" --lib --tests --examples --benches -- -D warnings
}

# The robot's crates compile without a floating-point unit, in a browser, and with their log.
targets() {
  for processor in "$smallest" "$browser"; do
    cargo check "${portable[@]}" --target "$processor"
  done
  cargo check "${portable[@]}" --target "$robot" --features wdgnn-robot/defmt
  cargo package --allow-dirty --no-verify --quiet "${portable[@]}"
}

# Lints of an image of each chip, and of the C library; the step `tests` builds and boots the images of all boards.
boards() {
  cargo clippy -p wdgnn-c --release --target "$risc" -- -D warnings
  "${firmware[@]}" -- -D warnings
  for features in board-nrf52840,gateway board-microbit-v2; do
    WDGNN_UNSEALED=1 "${firmware[@]}" --no-default-features --features "$features" -- -D warnings
  done
  WDGNN_KEY=tests/swarm.key WDGNN_KEY_ROTATION=off "${firmware[@]}" --no-default-features \
    --features board-microbit-v2,buggy -- -D warnings
}

docs() {
  RUSTDOCFLAGS="-D warnings" cargo doc --no-deps
}

# Compiles all tests and the programs that they run.
build() {
  cargo build "${host[@]}" --profile test --lib --tests --examples --bin host-sim --bin page
}

# All tests: of single crates, of emulated robots, of pages in a browser, of frames in Python, of swarms in C.
tests() {
  build
  WDGNN_PROGRAMS=$(realpath "$programs") cargo test "${host[@]}"
}

unit() {
  cargo test "${host[@]}" --lib
}

browser() {
  cargo test -p system-tests --features system-tests/browser -- page live
}

c() {
  cargo test -p system-tests --features system-tests/c -- c_library
}

# Tests of the Python package with the module of the step `build`.
python() {
  build
  local library="$programs/lib_native.so" options=()
  if [ -f "$library" ]; then options=(--library "$(realpath "$library")"); fi
  HOST_SIM=$(realpath "$programs/host-sim") bindings/python/test.sh "${options[@]}"
}

# Tests of the camera's programs on images of the example `render`.
tracker() {
  build
  RENDER=$(realpath "$programs/examples/render") HOST_SIM=$(realpath "$programs/host-sim") tools/test.sh
}

# Every processor that the robot's crates are made for.
processors() {
  if command -v rustup >/dev/null; then rustup target add "${others[@]}"; fi
  for processor in "$robot" "$risc" "${others[@]}"; do
    cargo check "${portable[@]}" --target "$processor"
  done
  cargo check "${portable[@]}" --target "$smallest" --features wdgnn-robot/defmt
}

# Lints and tests of every board's images.
images() {
  cargo clippy -p wdgnn-c --release --target "$robot" -- -D warnings
  WDGNN_PROFILE=esb32 WDGNN_KEY=tests/swarm.key "${firmware[@]}" -- -D warnings
  for map in firmware/src/board/*/map.x; do
    name=$(basename "$(dirname "$map")")
    if [ "$name" = qemu ]; then continue; fi
    for features in "board-${name//_/-}" "board-${name//_/-},gateway"; do
      WDGNN_UNSEALED=1 "${firmware[@]}" --no-default-features --features "$features" -- -D warnings
    done
  done
  WDGNN_ALL_BOARDS=1 cargo test "${host[@]}" --test all -- boards:: gateways_boot
}

# The optimized wheel, its size, and the Python tests with it.
wheel() {
  build
  HOST_SIM=$(realpath "$programs/host-sim") bindings/python/test.sh --release
}

case "${1:-all}" in
all) steps=(tools format lints targets boards docs build tests python tracker) ;;
fast) steps=(format lints unit) ;;
full) steps=(tools format lints targets boards docs build tests python tracker processors images wheel) ;;
*) steps=("$@") ;;
esac
times="" step=""
trap 'code=$?; if [ $code -eq 1 ] || [ $code -gt 2 ]; then echo "test.sh: step $step failed" >&2; fi' EXIT
for step in "${steps[@]}"; do
  case "$step" in
  tools | format | lints | targets | boards | docs | build | tests | python | tracker | unit | browser | c | processors | images | wheel) ;;
  *)
    echo "test.sh: there is no step '$step'; see the head of this file" >&2
    exit 2
    ;;
  esac
  printf '\n== %s\n' "$step"
  began=$SECONDS
  "$step"
  times+=$(printf '%-10s %4d s' "$step" $((SECONDS - began)))$'\n'
done
printf '\n%s\ntest.sh: all checks passed in %d s\n' "$times" "$SECONDS"
