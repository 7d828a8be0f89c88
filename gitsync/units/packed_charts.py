"""Packed charts, which Helm takes from the folder charts/ of another one.

Each is read and packed again, so that Helm sees the files that were checked and nothing else: two programs may read one
archive in two ways.
"""

from __future__ import annotations

import gzip
import io
import posixpath
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gitsync.units.charts import MOST_CHARTS, PACKED, SCHEMA, check_schema
from gitsync.units.unbuildable import ChartError

MOST_BYTES: Final = 50_000_000
"""The most that the packed charts of one chart have together, unpacked."""

_MOST_FILES: Final = 10_000
_DEEPEST: Final = 10
_ROOT: Final = re.compile(r"(?:charts/[^/]+/)*")
"""Where a packed chart has a chart: itself, and those that are unpacked in its folder charts/."""


def is_packed_dependency(path: str) -> bool:
    """Tell whether Helm reads a file as a packed chart, as it does in each folder charts/."""
    folder, name = posixpath.split(path)
    return name.endswith(PACKED) and not name.startswith(("_", ".")) and posixpath.basename(folder) == "charts"


@dataclass(slots=True)
class ChartPacker:
    """Packs the charts in one chart again. Mutable: it counts what they have together."""

    size: int = 0
    files: int = 0
    charts: int = 0

    def repack(self, path: str, content: bytes, depth: int = 0) -> bytes:
        """Return the packed chart at `path` of the source with its plain files. ChartError if it cannot be read, is too
        large, or a schema in it names files elsewhere.
        """
        packed = io.BytesIO()
        with (
            gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1, mtime=0) as stream,
            tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
        ):
            for name, text in self.unpack(path, content, depth):
                if _ROOT.sub("", name, count=1) == SCHEMA:
                    check_schema(path, text, f"{name} in {path}")
                kept = self.repack(path, text, depth + 1) if is_packed_dependency(name) else text
                entry = tarfile.TarInfo(f"chart/{name}")
                entry.size = len(kept)
                archive.addfile(entry, io.BytesIO(kept))
        return packed.getvalue()

    def unpack(self, path: str, content: bytes, depth: int) -> Iterator[tuple[str, bytes]]:
        """The files of a packed chart, with the names that Helm gives them."""
        self.charts += 1
        if self.charts > MOST_CHARTS or depth > _DEEPEST:
            raise _make_too_large(path, f"{MOST_CHARTS} charts, or {_DEEPEST} in each other")
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                unpacked = stream.read(MOST_BYTES - self.size + 1)
            self.size += len(unpacked)
            if self.size > MOST_BYTES:
                raise _make_too_large(path, f"{MOST_BYTES // 1_000_000} MB")
            with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
                while member := archive.next():
                    self.files += 1
                    if self.files > _MOST_FILES or member.issparse():
                        raise _make_too_large(path, f"{_MOST_FILES} files")
                    if member.isdir():
                        continue
                    file = archive.extractfile(member) if member.isreg() else None
                    yield _find_name(path, member.name), file.read() if file else b""
        except (tarfile.TarError, OSError, EOFError, zlib.error) as error:
            message = f"{path} is not a packed chart: {error}."
            raise ChartError(message, hint="Make it with `helm dependency build`.", path=path) from error


def list_packed(files: Mapping[str, bytes]) -> Iterator[bytes]:
    """Return the contents of all files in packed charts, which are among some files. Raises as `ChartPacker`."""
    packer = ChartPacker()
    pending = [(path, content, 0) for path, content in files.items() if is_packed_dependency(path)]
    while pending:
        path, content, depth = pending.pop()
        for name, text in packer.unpack(path, content, depth):
            yield text
            if is_packed_dependency(name):
                pending.append((path, text, depth + 1))


def _find_name(path: str, member: str) -> str:
    """The path of a file in its chart: what is below the one folder of the archive; Windows writes a backslash."""
    inside = member.replace("\\", "/").partition("/")[2]
    name = posixpath.normpath(inside)
    if not inside or inside.startswith("/") or name in {".", ".."} or name.startswith("../"):
        message = f"{path} is not a packed chart: it has the file {member[:200]!r}."
        raise ChartError(message, hint="Make it with `helm dependency build`.", path=path)
    return name


def _make_too_large(path: str, most: str) -> ChartError:
    message = f"The packed charts beside {path} have more than {most}."
    return ChartError(message, hint="Commit only the charts that it depends on.", path=path)
