#!/usr/bin/env bash
# Installs packages from PyPI in a virtual environment and runs the tests.
#
#   bindings/python/test.sh [--release | --library FILE] [EXTRA FOLDER]
#
# Tests a wheel with the profile `dev`. With --release, the wheel has the profile `wheel`, and its size is checked. With
# --library, no wheel is built: FILE is the module that cargo built.
# EXTRA and FOLDER select other tests: test-torch.sh and test-ray.sh.
set -euo pipefail
cd "$(dirname "$0")"

readonly max_bytes=1190000 # of the release wheel
profile=dev library=""
case "${1:-}" in
--release)
  profile=wheel
  shift
  ;;
--library)
  library=$2
  shift 2
  ;;
esac
folder=$(cd ../.. && mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/python
if [ ! -x "$folder/venv/bin/pip" ]; then python3 -m venv "$folder/venv"; fi

# Puts the sources and the library into a folder of packages, and installs the packages that a wheel would bring.
install_library() {
  rm -rf "$folder/site"
  mkdir -p "$folder/site"
  cp -r wdgnn "$folder/site/wdgnn"
  cp "$library" "$folder/site/wdgnn/_native.abi3.so"
  "$folder/venv/bin/pip" uninstall --quiet --yes wdgnn
  # shellcheck disable=SC2046 # requirements have no spaces
  "$folder/venv/bin/pip" install --quiet $("$folder/venv/bin/python" requirements.py test ${1:+"$1"})
  export PYTHONPATH="$folder/site"
}

install_wheel() {
  rm -rf "$folder/wheels"
  MATURIN_PEP517_ARGS="--profile $profile" \
    "$folder/venv/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder/wheels" .
  local wheel bytes
  wheel=$(echo "$folder"/wheels/wdgnn-*.whl)
  bytes=$(wc -c <"$wheel")
  echo "$(basename "$wheel"): $bytes bytes, profile $profile"
  if [ "$profile" = wheel ] && [ "$bytes" -gt "$max_bytes" ]; then
    echo "bindings/python/test.sh: the wheel must have at most $max_bytes bytes, got $bytes" >&2
    exit 1
  fi
  "$folder/venv/bin/pip" install --quiet --force-reinstall --no-deps "$wheel"
  "$folder/venv/bin/pip" install --quiet "$wheel[test${1:+,$1}]"
}

if [ -n "$library" ]; then install_library "${1:-}"; else install_wheel "${1:-}"; fi
# From another folder, so that Python imports the installed package.
cd "$folder"
"$folder/venv/bin/pytest" --quiet --import-mode=importlib -p no:cacheprovider "$OLDPWD/${2:-tests}"
