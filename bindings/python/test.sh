#!/usr/bin/env bash
# Builds the wheel and tests it in an environment of its own, with packages from the registry. torch has a command of its own:
# bindings/python/test-torch.sh.
set -euo pipefail
cd "$(dirname "$0")"

readonly most=1190000 # bytes of the wheel
folder=$(cd ../.. && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/python
if [ ! -x "$folder/venv/bin/pip" ]; then python3 -m venv "$folder/venv"; fi
rm -rf "$folder/wheels"
"$folder/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder/wheels" .
wheel=$(echo "$folder"/wheels/wdgnn-*.whl)
bytes=$(wc -c <"$wheel")
echo "$(basename "$wheel"): $bytes bytes"
if [ "$bytes" -gt "$most" ]; then
  echo "bindings/python/test.sh: the wheel may have $most bytes" >&2
  exit 1
fi
"$folder/venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
"$folder/venv/bin/pip" install --quiet "$wheel[test${1:+,$1}]"
# From elsewhere, so that what is tested is what was installed.
cd "$folder"
"$folder/venv/bin/pytest" --quiet --import-mode=importlib -p no:cacheprovider "$OLDPWD/${2:-tests}"
