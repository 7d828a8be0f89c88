#!/usr/bin/env bash
# Install gitsync in a job of GitHub Actions or Azure Pipelines, once, with the stores of secrets that need packages.
# It is on the PATH of later steps.
set -euo pipefail

temporary=${RUNNER_TEMP:-${AGENT_TEMPDIRECTORY:?Run this script in a job, or set RUNNER_TEMP to a folder.}}
environment=$temporary/gitsync

if [[ ! -e $environment/ready ]]; then
    "$(dirname "$0")/../install.sh" "$environment" databases,keyvault,kubernetes
    touch "$environment/ready"
fi
if [[ ${TF_BUILD:-} ]]; then
    echo "##vso[task.prependpath]$environment/bin"
else
    echo "$environment/bin" >>"${GITHUB_PATH:-/dev/stdout}"
fi
