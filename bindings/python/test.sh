#!/usr/bin/env bash
# Builds the wheel, installs it in a virtual environment with packages from PyPI, and runs the tests.
#
#   bindings/python/test.sh [--release] [EXTRA FOLDER]
#
# The wheel has the profile `dev`. With --release it has the profile `wheel`, and its size is checked.
# EXTRA and FOLDER select other tests: test-torch.sh and test-ray.sh.
set -euo pipefail
cd "$(dirname "$0")"

readonly max_bytes=1190000 # of the release wheel
profile=dev
if [ "${1:-}" = --release ]; then
  profile=wheel
  shift
fi
folder=$(cd ../.. && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/python
if [ ! -x "$folder/venv/bin/pip" ]; then python3 -m venv "$folder/venv"; fi
rm -rf "$folder/wheels"
MATURIN_PEP517_ARGS="--profile $profile" \
  "$folder/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder/wheels" .
wheel=$(echo "$folder"/wheels/wdgnn-*.whl)
bytes=$(wc -c <"$wheel")
echo "$(basename "$wheel"): $bytes bytes, profile $profile"
if [ "$profile" = wheel ] && [ "$bytes" -gt "$max_bytes" ]; then
  echo "bindings/python/test.sh: the wheel must have at most $max_bytes bytes, got $bytes" >&2
  exit 1
fi
"$folder/venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
"$folder/venv/bin/pip" install --quiet "$wheel[test${1:+,$1}]"
# From another folder, so that Python imports the installed package.
cd "$folder"
"$folder/venv/bin/pytest" --quiet --import-mode=importlib -p no:cacheprovider "$OLDPWD/${2:-tests}"
