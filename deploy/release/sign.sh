#!/usr/bin/env bash
# Sign the files of a release, or an image, with the identity of the job: no key is kept anywhere.
#
# usage: sign.sh FILE... | sign.sh NAME@sha256:DIGEST
#
# Beside each file it writes FILE.sigstore.json, with which `cosign verify-blob --bundle` checks it. The signature of an
# image goes to its registry.
set -euo pipefail

for subject in "$@"; do
    case $subject in
        *@sha256:*) cosign sign --yes "$subject" ;;
        *) cosign sign-blob --yes --bundle "$subject.sigstore.json" "$subject" ;;
    esac
done
