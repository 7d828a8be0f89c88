"""Build kube-apiserver, kube-controller-manager and etcd from the Go module proxy, once, and print their folder.

    PATH=$(python tools/build_kubernetes.py):$PATH

The module of Kubernetes replaces its staging modules by folders that the proxy does not have, so `go install` refuses
it. A module beside it replaces them by their releases instead. GOFLAGS=-p=2 takes fewer processors.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

VERSION = "v1.36.1"
STAGING_VERSION = VERSION.replace("v1.", "v0.", 1)
PROGRAMS = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "etcd": "go.etcd.io/etcd/server/v3",  # of the version that Kubernetes requires
}
_STAGED = re.compile(r"^\t(\S+) => \./staging/", re.MULTILINE)


def main() -> int:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "gitsync-ci" / f"kubernetes-{VERSION}"
    folder.mkdir(parents=True, exist_ok=True)
    if missing := [name for name in PROGRAMS if not (folder / name).exists()]:
        (folder / "go.mod").write_text(make_module())
        for name in missing:
            build(name, folder)
    print(folder)
    return 0


def make_module() -> str:
    """Return the go.mod of a module that requires Kubernetes, with its staging modules as releases."""
    known = subprocess.run(
        ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{VERSION}"], check=True, stdout=subprocess.PIPE
    )
    module = Path(json.loads(known.stdout)["GoMod"]).read_text()
    (language,) = re.findall(r"^go .*$", module, re.MULTILINE)
    replaced = "".join(f"replace {name} => {name} {STAGING_VERSION}\n" for name in _STAGED.findall(module))
    return f"module programs.example\n{language}\nrequire k8s.io/kubernetes {VERSION}\n{replaced}"


def build(name: str, folder: Path) -> None:
    """Build a program, which then prints its version as a release does."""
    flags = f"{os.environ.get('GOFLAGS', '')} -mod=mod".strip()
    versions = f"-X k8s.io/component-base/version.gitVersion={VERSION}"
    subprocess.run(
        ["nice", "go", "build", "-o", name, "-ldflags", versions, PROGRAMS[name]],
        check=True,
        cwd=folder,
        env={**os.environ, "GOFLAGS": flags},
        stdout=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
