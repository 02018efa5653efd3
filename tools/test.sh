#!/usr/bin/env bash
# Installs packages from PyPI in a virtual environment and tests tracker.py on rendered images.
#
#   tools/test.sh [ARGUMENTS OF PYTEST]
#
# RENDER is the example `render` of wdgnn-camera; without it, cargo builds it.
# HOST_SIM is `host-sim`; without it, the loop with simulated robots is not tested.
set -euo pipefail
cd "$(dirname "$0")"

folder=$(cd .. && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/tools
if [ ! -x "$folder/venv/bin/pip" ]; then python3 -m venv "$folder/venv"; fi
"$folder/venv/bin/pip" install --quiet -r requirements.txt pypdfium2 pytest
"$folder/venv/bin/pytest" --quiet -p no:cacheprovider "${@:-tests}"
