"""Prepare a folder for manifests: editor settings, their schemas, .gitignore, .gitsyncignore and gitsync.yaml.

A file that exists is never changed: init lists it as kept, with what to add to it. Only the schemas in .gitsync-schemas
are written again, so run init in each clone, after an update of gitsync, and for a new type of an AzureResource.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.settings.files.target_folder import TargetFolder

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (Example("Prepare a new repository", "git init estate && gitsync init estate"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", nargs="?", default=".", help="The folder. [default .]")


def run(options: argparse.Namespace, config: Config) -> ExitCode:  # noqa: ARG001 - as every command
    from gitsync.cli.used_types import find_used_types
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.editor.schema_files import build_files
    from gitsync.settings.files.target_folder import TargetFolder
    from gitsync.settings.logging import escape_controls

    if "://" in options.folder:
        raise ConfigError(f"{options.folder} is a URL, not a folder.", hint="Clone the repository, and run init in it.")
    target = TargetFolder(Path(options.folder))
    for line in prepare_folder(target):
        print(escape_controls(line))
    print(update_schemas(target, build_files(open_catalog(), find_used_types(Path(options.folder)))))
    print("\nRun `gitsync explain KIND --example` for a first manifest, then `gitsync validate`.")
    return ExitCode.FINE


def prepare_folder(target: TargetFolder) -> Iterator[str]:
    """Write the files that are missing, and list the result for each. ConfigError if one cannot be written."""
    from gitsync.desired.editor.workspace import build_workspace

    for file in build_workspace():
        if target.create(file.path, file.content.encode()):
            yield f"created  {file.path}"
            continue
        yield f"kept     {file.path}"
        # A file that has the essential line is fine, however a person has written the rest.
        if file.essence.encode() not in (target.read(file.path) or b""):
            yield "         Add to it:"
            yield from (f"           {line}" for line in file.content.splitlines())


def update_schemas(target: TargetFolder, files: Iterable[tuple[str, bytes]]) -> str:
    """Write the schemas, and describe the result. ConfigError if one cannot be written."""
    from gitsync.cli.schema import write_schemas
    from gitsync.desired.editor.schema_files import ENTRY
    from gitsync.desired.editor.workspace import SCHEMAS

    is_new = target.read(f"{SCHEMAS}/{ENTRY}") is None
    total, changed = write_schemas(target, files, f"{SCHEMAS}/")
    word = "created" if is_new else "updated" if changed else "kept"
    return f"{word:<8} {SCHEMAS}/ ({total} schemas)"
