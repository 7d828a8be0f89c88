#!/usr/bin/env bash
# Install gitsync from the checkout that this script is in, with the packages that deploy/constraints pins by hashes.
#
# usage: install.sh FOLDER [EXTRAS]
#
# FOLDER becomes a virtual environment without pip. EXTRAS are separated by commas. PYTHON is the interpreter; it needs
# pip. Everything is downloaded and checked first: what builds and installs the package reads no index.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
extras=${2:-}
python=${PYTHON:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "gitsync needs Python 3.11 or newer; $python is $("$python" --version). Set PYTHON to another one." >&2
    exit 2
fi

wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT

pip() {
    "$python" -m pip --disable-pip-version-check --quiet "$@"
}

"$python" -m venv --without-pip "$folder"
pip download --require-hashes --only-binary :all: --dest "$wheels" \
    --requirement "$root/deploy/constraints/build.txt" --requirement "$root/deploy/constraints/gitsync.txt"
pip wheel --no-index --find-links "$wheels" --no-deps --wheel-dir "$wheels" "$root"
pip --python "$folder/bin/python" install --no-index --find-links "$wheels" "gitsync-azure${extras:+[$extras]}"
