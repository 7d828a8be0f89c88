"""Build a release: the package, its SBOM, notes and checksums, in a folder.

usage: python tools/release.py TAG FOLDER

TAG is `v` and the version of the package, and CHANGELOG.md has a section for it. FOLDER gets:

- `package/`: sdist and wheel, built with the time of the commit, so that the same commit gives the same bytes;
- `gitsync-VERSION.cdx.json`: the packages that it installs with all extras, as CycloneDX;
- `SHA256SUMS`: of all of these;
- `notes.md`: the section of CHANGELOG.md.

It needs the packages of deploy/constraints/release.txt. If GITHUB_OUTPUT names a file, `version` and `image` (the name
for the registry: the repository in lower case) are added to it.

Before anything is built, it looks up the name in the index of packages: one of another repository is not ours to
publish, and neither is a version that is there already. PACKAGE_INDEX is the address of another index than PyPI. The
exit code is 2 if the tag cannot be released.
"""

from __future__ import annotations

import hashlib
import http
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

from project_urls import find_home

ROOT = Path(__file__).resolve().parent.parent
_VERSION = re.compile(r"^__version__ = \"(.+)\"$", re.MULTILINE)


class NotReleasableError(Exception):
    """The tag, the version and the changelog do not agree, or the name at the index is not ours."""


def check_version(tag: str) -> str:
    """The version that a tag names. NotReleasableError if the package or pyproject.toml has another one."""
    version = tag.removeprefix("v")
    found = {
        "pyproject.toml": tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"],
        "gitsync/__init__.py": _VERSION.findall((ROOT / "gitsync" / "__init__.py").read_text(encoding="utf-8"))[0],
    }
    for file, other in found.items():
        if tag != f"v{other}":
            message = f"The tag is {tag}, and {file} has {other}. Set the version to {version}, or tag v{other}."
            raise NotReleasableError(message)
    return version


def read_notes(version: str) -> str:
    """The section of CHANGELOG.md for a version. NotReleasableError if it has none, or an empty one."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL)
    if not found or not found[1].strip():
        message = f"CHANGELOG.md has no lines for {version}. Move those of Unreleased to a section [{version}]."
        raise NotReleasableError(message)
    return found[1].strip() + "\n"


def check_name(version: str) -> None:
    """Look up our name in the index of packages. NotReleasableError unless it is free or is of our repository, without
    this version.

    Anybody may write our address into a package: this finds a mistake before images and signatures are pushed. What
    keeps others out is the index itself, which takes our package from this workflow alone.
    """
    name = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]
    home, address = find_home(os.environ), f"{os.environ.get('PACKAGE_INDEX', 'https://pypi.org')}/pypi/{name}/json"
    try:
        with urllib.request.urlopen(address, timeout=30) as response:  # noqa: S310 - https, or what its user gave
            project = json.load(response)
        urls, versions = (project["info"]["project_urls"] or {}).values(), list(project["releases"])
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == http.HTTPStatus.NOT_FOUND:
            return  # the first release
        raise NotReleasableError(f"{address} answered {error.code}: whose name {name} is, is not known.") from error
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise NotReleasableError(f"{address} did not say whose name {name} is: {error}") from error
    if not home or home not in urls:
        message = f"{name} at the index is of {', '.join(sorted(urls)) or 'an unknown repository'}, not of"
        raise NotReleasableError(f"{message} {home or 'this one (GITHUB_REPOSITORY is not set)'}. Choose another name.")
    if version in versions:
        raise NotReleasableError(f"The index has {name} {version} already. Raise the version.")


def build_package(folder: Path) -> None:
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    _run("hatchling", "build", "--directory", str(folder), SOURCE_DATE_EPOCH=done.stdout.strip())


def write_sbom(file: Path) -> None:
    """Install the package with all extras that users have, and list what is there."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "environment"
        install = [str(ROOT / "deploy" / "install.sh"), str(environment), "keyvault,kubernetes"]
        subprocess.run(install, env={**os.environ, "PYTHON": sys.executable}, check=True)
        where = ["--output-file", str(file), str(environment / "bin" / "python")]
        _run("cyclonedx_py", "environment", "--pyproject", "pyproject.toml", "--output-reproducible", *where)


def write_checksums(folder: Path) -> None:
    """In the form that `sha256sum --check` reads."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


def tell_outputs(version: str) -> None:
    repository = os.environ.get("GITHUB_REPOSITORY", "")
    if file := os.environ.get("GITHUB_OUTPUT"):
        with Path(file).open("a") as stream:
            stream.write(f"version={version}\nimage={repository.lower()}\n")


def _run(module: str, *arguments: str, **variables: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, env={**os.environ, **variables}, check=True)


def main(arguments: list[str]) -> int:
    tag, folder = arguments[0], Path(arguments[1]).absolute()
    try:
        version = check_version(tag)
        notes = read_notes(version)
        check_name(version)
    except NotReleasableError as error:
        print(error, file=sys.stderr)
        return 2
    build_package(folder / "package")
    write_sbom(folder / f"gitsync-{version}.cdx.json")
    write_checksums(folder)
    (folder / "notes.md").write_text(notes)
    tell_outputs(version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
