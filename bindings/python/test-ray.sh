#!/usr/bin/env bash
# Tests wdgnn.cluster on a local Ray cluster of several nodes, one of which is killed. Takes some minutes.
set -euo pipefail
cd "$(dirname "$0")"
(cd ../.. && cargo build -p host-sim)
HOST_SIM=$(cd ../.. && realpath "${CARGO_TARGET_DIR:-target}/debug/host-sim")
export HOST_SIM
exec ./test.sh ray tests_ray
