"""Sources in memory."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Collection, Mapping, Sequence

from gitsync.errors import SourceError

GROUP = b"apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: rg}\nspec: {location: westus}\n"


class MemoryTree:
    """Files by path. It records what is read, and refuses paths in `refused`."""

    def __init__(self, files: Mapping[str, bytes | str], refused: Collection[str] = ()) -> None:
        self._files = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
        self._refused = refused
        self.was_read: list[str] = []

    @property
    def paths(self) -> Collection[str]:
        return self._files.keys()

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        if refused := [path for path in paths if path in self._refused]:
            raise SourceError(f"{refused[0]} is too large.")
        self.was_read.extend(paths)
        return {path: self._files[path] for path in paths}


def pack(files: Mapping[str, str | bytes], **special: bytes) -> bytes:
    """An archive of files by path; those in `special` are of a type of tar, by its letter."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz") as archive:
        for path, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for path, kind in special.items():
            entry = tarfile.TarInfo(f"lib/{path}")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    return output.getvalue()
