"""Write JSON Schemas of manifests and of gitsync.yaml, for editors and other tools. Offline.

DIR/manifest.json is the schema of any manifest: it selects the schema of a kind by apiVersion and kind, and accepts
documents of other tools. DIR/GROUP/KIND_VERSION.json are the schemas of the kinds, DIR/gitsync.json is the schema of
gitsync.yaml in a repository, and DIR/operator-settings.json the schema of a file for --config. The ARM types that an
AzureResource in SOURCE names have schemas of their bodies. Run it again after an update of gitsync, and for a new type.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.settings.files.target_folder import TargetFolder

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (Example("Schemas for an editor or another checker", "gitsync schema --out schemas"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="SOURCE", nargs="?", default=".", help="The folder with the manifests. [default .]"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="The folder for the schemas.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:  # noqa: ARG001 - as every command
    from gitsync.cli.used_types import find_used_types
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.editor.schema_files import build_files
    from gitsync.settings.files.target_folder import TargetFolder
    from gitsync.settings.logging import escape_controls

    files = build_files(open_catalog(), find_used_types(Path(options.folder)))
    total, changed = write_schemas(TargetFolder(Path(options.out)), files)
    print(escape_controls(f"{total} schemas in {options.out}, {changed} written."))
    return ExitCode.FINE


def write_schemas(target: TargetFolder, files: Iterable[tuple[str, bytes]], inside: str = "") -> tuple[int, int]:
    """Write schemas, by their paths, into a folder or into one `inside` of it. Returns how many there are, and how many
    of them were missing or different. ConfigError if one cannot be written.
    """
    written = [target.replace(f"{inside}{path}", content) for path, content in files]
    return len(written), sum(written)
