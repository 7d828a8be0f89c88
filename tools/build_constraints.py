"""Write the versions and hashes of the packages that the image, the action, CI and a release install.

usage: python tools/build_constraints.py [--check | --upgrade]

Each file of deploy/constraints has all packages for every supported Python, and the hashes of all their files. Writing
them reads the package index, with uv (`pip install uv`). Pins that satisfy pyproject.toml stay, unless `--upgrade`
raises them. `--check` sends nothing: it reports whether the pins satisfy pyproject.toml, and whether each has a hash.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "deploy" / "constraints"
FOR_WORK = frozenset({"dev", "docs"})
"""The extras for work on gitsync itself. All others are for its users."""
EDITABLE = ("editables>=0.5",)
"""What hatchling builds an editable install with, which is not in pyproject.toml."""
RELEASE = ("cyclonedx-bom>=7", "pip-audit>=2.9")
"""The programs that a release and the weekly scan run."""

_PIN = re.compile(
    r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: ;[^\\]*)? \\$((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?$)+)", re.MULTILINE
)
_LINE = re.compile(r"\s*#.*|    --hash=sha256:[0-9a-f]{64}( \\)?|[A-Za-z0-9._-]+==[^\s;\\]+( ; [^\\]*)? \\")


def list_inputs(project: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """The requirements of each file, by the name of the file without its suffix."""
    extras: Mapping[str, Sequence[str]] = project["project"]["optional-dependencies"]
    build: Sequence[str] = project["build-system"]["requires"]
    needed: Sequence[str] = project["project"]["dependencies"]
    own = project["project"]["name"]

    def list_extras(names: Iterable[str]) -> set[str]:
        """The requirements of extras, and of those that they name."""
        found: set[str] = set()
        for requirement in (extra for name in names for extra in extras[name]):
            parsed = Requirement(requirement)
            found |= list_extras(parsed.extras) if canonicalize_name(parsed.name) == own else {requirement}
        return found

    return {
        "build": sorted(build),
        "gitsync": sorted({*needed, *list_extras(extras.keys() - FOR_WORK)}),
        "dev": sorted({*build, *EDITABLE, *needed, *list_extras(extras.keys() & FOR_WORK)}),
        "release": sorted({*build, *RELEASE}),
    }


def list_faults(name: str, requirements: Sequence[str], text: str) -> Iterator[str]:
    """What is wrong with a file: a requirement that no pin satisfies, or a line that is not a pin with hashes."""
    pins = {canonicalize_name(package): Version(version) for package, version, _ in _PIN.findall(text)}
    for requirement in map(Requirement, requirements):
        pin = pins.get(canonicalize_name(requirement.name))
        if pin is None:
            yield f"{name}.txt has no {requirement.name}."
        elif pin not in requirement.specifier:
            yield f"{name}.txt pins {requirement.name} {pin}, and pyproject.toml wants {requirement.specifier}."
    for number, line in enumerate(text.splitlines(), 1):
        if not _LINE.fullmatch(line):
            yield f"{name}.txt:{number}: this is not a pin with hashes."


def compile_file(name: str, requirements: Sequence[str], *flags: str) -> None:
    """Write a file again. `flags` are those of uv."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "requirements.in"
        source.write_text("\n".join(requirements) + "\n")
        command = ["uv", "pip", "compile", "--universal", "--python-version", "3.11", "--generate-hashes", "--quiet"]
        command += [*flags, "--no-annotate", "--custom-compile-command", "make constraints"]
        subprocess.run([*command, str(source), "--output-file", str(FOLDER / f"{name}.txt")], check=True)


def main(arguments: list[str]) -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    inputs = list_inputs(project)
    if "--check" not in arguments:
        FOLDER.mkdir(parents=True, exist_ok=True)
        for name, requirements in inputs.items():
            compile_file(name, requirements, *arguments)
    faults = [
        fault
        for name, requirements in inputs.items()
        for fault in list_faults(name, requirements, _read(FOLDER / f"{name}.txt"))
    ]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        print("Run `make constraints`.", file=sys.stderr)
    return 1 if faults else 0


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
