"""Writes the files of an import: all of them or none, and never over a file that exists.

They are written into a folder whose name begins with a dot, which no source reads, and linked from there. A link never
replaces a file, so one that somebody writes at the same time stays too.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, Final

from gitsync.errors import ConfigError, PublishError
from gitsync.git.state.yaml_text import dump

_STAGE: Final = ".gitsync-import-"


def format_documents(documents: Iterable[Mapping[str, Any]]) -> bytes:
    """Manifests as one file of YAML."""
    return b"---\n".join(dump(document, has_blocks=True) for document in documents)


def check_folder(folder: Path) -> None:
    """Raise ConfigError if a folder cannot be one to write manifests into."""
    for place in (folder, *folder.parents):
        if place.is_dir():
            if not os.access(place, os.W_OK | os.X_OK):
                raise ConfigError(f"{place} cannot be written.", hint="Set --out to another folder.")
            return
        if place.exists() or place.is_symlink():
            raise ConfigError(f"{place} is not a folder.", hint="Set --out to a folder.")


def list_files(folder: Path) -> list[str]:
    """The paths of all files in a folder, relative to it; none if it does not exist."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files by their paths in a folder, which is created if it is missing. PublishError if one cannot be written:
    then none is.
    """
    made: list[Path] = []
    try:
        with _open_stage(folder, made) as stage:
            for number, (path, content) in enumerate(sorted(files.items())):
                staged, target = stage / str(number), folder / PurePosixPath(path)
                staged.write_bytes(content)
                made += _make_folders(target.parent)
                os.link(staged, target)
                made.append(target)
    except OSError as error:
        _remove(made)
        raise PublishError(
            f"The manifests cannot be written to {folder}: {error.filename2 or error.filename}: {error.strerror}.",
            hint="Set --out to another folder. Nothing was written.",
        ) from error
    except BaseException:
        _remove(made)
        raise


@contextmanager
def _open_stage(folder: Path, made: list[Path]) -> Iterator[Path]:
    made += _make_folders(folder)
    stage = Path(tempfile.mkdtemp(prefix=_STAGE, dir=folder))
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder and its parents; returns those that were missing, the outermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()][::-1]
    for place in missing:
        place.mkdir()
    return missing


def _remove(made: Iterable[Path]) -> None:
    for place in reversed(list(made)):
        with suppress(OSError):
            place.rmdir() if place.is_dir() else place.unlink()
