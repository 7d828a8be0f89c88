#!/usr/bin/env bash
# Install gitsync from the checkout that this script is in, with the packages that the constraints pin by their hashes.
#
# It runs in jobs of GitHub Actions and of Azure Pipelines. The environment is made once for a job, among its temporary
# files, and its programs are on the PATH of later steps. PYTHON is the interpreter that makes it.
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
temporary=${RUNNER_TEMP:-${AGENT_TEMPDIRECTORY:?Run this script in a job, or set RUNNER_TEMP to a folder.}}
environment=$temporary/gitsync
python=${PYTHON:-python3}

install() {
    "$environment/bin/python" -m pip --disable-pip-version-check --quiet install "$@"
}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "gitsync needs Python 3.11 or newer; $python is $("$python" --version). Install a newer one in a step before." >&2
    exit 2
fi

if [[ ! -e $environment/ready ]]; then
    "$python" -m venv "$environment"
    install --require-hashes --only-binary :all: --requirement "$root/deploy/constraints/build.txt"
    install --require-hashes --only-binary :all: --requirement "$root/deploy/constraints/gitsync.txt"
    install --no-build-isolation --no-deps "$root"
    touch "$environment/ready"
fi
if [[ ${TF_BUILD:-} ]]; then
    echo "##vso[task.prependpath]$environment/bin"
else
    echo "$environment/bin" >>"${GITHUB_PATH:-/dev/stdout}"
fi
