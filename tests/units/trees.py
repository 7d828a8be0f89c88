"""Sources in memory."""

from __future__ import annotations

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
