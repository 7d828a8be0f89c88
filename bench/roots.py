"""`python -m bench.roots`: what `validate` takes for a large root of which a small part is for gitsync.

The root has thousands of files of applications in kustomizations, and some hundred of resources. Beside it stands the
same root with a gitsync.yaml that names each kustomization, so that every one is built. Exits 1 if the first takes more
than `MOST` of the processor time of the second. kustomize or kubectl must be installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.processes import command
from gitsync.repository.units.kustomize import has_tool

MOST = 0.25
FILES = 10
"""Of each kustomization, its own file among them."""

_RESOURCE = (
    "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
    "metadata: {{name: group-{unit}-{file}}}\nspec: {{location: westeurope}}\n"
)
_APPLICATION = (
    "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web-{unit}-{file}}}\n"
    "spec:\n  replicas: 1\n  template:\n    spec:\n      containers: [{{name: web, image: web}}]\n"
)


def main() -> int:
    """Print a row for both roots, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.roots", description="Measure a large root.")
    parser.add_argument("--files", type=int, default=5000, help="Files of the root. [default 5000]")
    parser.add_argument("--ours", type=int, default=300, help="Files of those that are for gitsync. [default 300]")
    options = parser.parse_args()
    if not has_tool():
        print("Not measured: neither kustomize nor kubectl is installed.")
        return 0
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folders = _write(Path(name), options.files, options.ours)
        some = command("-m", "gitsync", "validate", name)
        units = json.dumps({"units": [{"path": folder} for folder in folders]})
        Path(name, "gitsync.yaml").write_text(units, encoding="utf-8")
        every = command("-m", "gitsync", "validate", name)
    share = some["cpu"] / every["cpu"]
    print(f"{'root of ' + str(options.files) + ' files':<24}{'s CPU':>8}{'s':>8}")
    print(f"{'what is for gitsync':<24}{some['cpu']:>8.2f}{some['seconds']:>8.2f}")
    print(f"{'every kustomization':<24}{every['cpu']:>8.2f}{every['seconds']:>8.2f}")
    print(f"{share:.2f} of the processor time; the limit is {MOST}.")
    return 1 if share > MOST else 0


def _write(root: Path, files: int, ours: int) -> list[str]:
    """Write the files, and return the folders of the kustomizations."""
    folders = []
    for unit in range(files // FILES):
        text = _RESOURCE if unit < ours // FILES else _APPLICATION
        folders.append(f"units/{unit}")
        folder = root / folders[-1]
        folder.mkdir(parents=True)
        names = [f"{file}.yaml" for file in range(FILES - 1)]
        (folder / "kustomization.yaml").write_text(json.dumps({"resources": names}), encoding="utf-8")
        for file, name in enumerate(names):
            (folder / name).write_text(text.format(unit=unit, file=file), encoding="utf-8")
    return folders


if __name__ == "__main__":
    sys.exit(main())
