#!/usr/bin/env bash
# Everything that several processes and machines do together, held to the bytes of one: two and four workers over Zenoh, a killed worker, two
# network namespaces (as root), flights and trainings on a cluster of Ray's of which one machine is killed. Builds Zenoh and installs Ray: some
# ten minutes on two cores. What of it needs neither is in ./test.sh, too (workers on threads, a training's helpers as processes).
set -euo pipefail
cd "$(dirname "$0")/.."
workers/test.sh
python/test-ray.sh
printf '\ntests/distributed.sh: all checks passed\n'
