#!/bin/sh
# Builds the C swarm example for a machine.
set -eu
here=$(dirname "$0")
if [ $# -eq 0 ] || [ $# -gt 6 ]; then
  cat >&2 <<'USAGE'
usage: build.sh MACHINE [FLIGHT WEIGHTS ROBOT_TYPE [KEY [OPERATOR]]]

  MACHINE     host, f405 or rv32
  FLIGHT      file with the start of the flight (struct flight in swarm.c)
  WEIGHTS     weight file, such as models/flocking-dot154.wdgnn
  ROBOT_TYPE  robot type in wdgnn.h, such as wdgnn_flocking_exact
  KEY         file with the key of a sealed swarm
  OPERATOR    file with personal keys and key updates (struct operator in swarm.c)

Writes $OUT (default: swarm.elf). Build the library first:
  cargo build -p wdgnn-c --release [--target thumbv7em-none-eabihf or riscv32imac-unknown-none-elf]
$LIBRARY names the library if it is in another place.
USAGE
  exit 2
fi
machine=$1 flight=${2:-$here/flight.bin} weights=${3:-$here/../../../models/flocking-wd-gnn.wdgnn}
robot_type=${4:-wdgnn_flocking_exact} key=${5:-} operator=${6:-}
out=${OUT:-swarm.elf}
target=${CARGO_TARGET_DIR:-$here/../../../target}
sealed=
if [ -n "$key" ]; then sealed="-DKEY=\"$key\""; fi
if [ -n "$operator" ]; then sealed="$sealed -DOPERATOR=\"$operator\""; fi

case $machine in
host)
  compiler=${CC:-cc} library=${LIBRARY:-$target/release/libwdgnn_c.a}
  options="-DMEMORY_BYTES=1048576 -Wl,--gc-sections" ;;
f405)
  compiler=arm-none-eabi-gcc library=${LIBRARY:-$target/thumbv7em-none-eabihf/release/libwdgnn_c.a}
  options="-DMEMORY_BYTES=112640 -mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16 -ffreestanding -nostdlib -T$here/boards/f405.ld" ;;
rv32)
  compiler=riscv64-unknown-elf-gcc library=${LIBRARY:-$target/riscv32imac-unknown-none-elf/release/libwdgnn_c.a}
  options="-DMEMORY_BYTES=112640 -march=rv32imac_zicsr -mabi=ilp32 -ffreestanding -nostdlib -T$here/boards/rv32.ld" ;;
*) echo "build.sh: MACHINE must be host, f405 or rv32, got $machine" >&2; exit 2 ;;
esac
for file in "$flight" "$weights" "$library" ${key:+"$key"} ${operator:+"$operator"}; do
  if [ ! -f "$file" ]; then echo "build.sh: there is no file $file" >&2; exit 2; fi
done
# shellcheck disable=SC2086 # $options and $sealed are several words
"$compiler" -std=c11 -Os -g -Wall -Wextra -Werror -ffp-contract=off -ffunction-sections -fdata-sections -Wl,--gc-sections \
  -I"$here" -I"$here/boards" -I"$here/../include" "-DROBOT_TYPE=$robot_type" "-DFLIGHT=\"$flight\"" "-DWEIGHTS=\"$weights\"" $sealed \
  "$here/swarm.c" "$here/boards/$machine.c" "$here/data.S" "$library" $options -o "$out"
