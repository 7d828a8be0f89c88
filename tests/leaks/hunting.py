"""Looks for secret values in whatever was written, in every spelling that a leak may take, and for parts of them.

Apart from the register, and independent of it: anyone who looks with the same eyes overlooks the same things.
"""

from __future__ import annotations

import base64
import html
import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

import re2

PART = 10
"""Characters; a leak of fewer does not help anybody."""


class Hunt:
    """Secret values by a name each."""

    def __init__(self, **values: str) -> None:
        self.needles = {
            needle: name for name, value in sorted(values.items()) for needle in sorted(_needles(value), key=len)
        }
        # One look for all of them, which takes a tenth of the time of a look for each.
        self._any = re2.compile(b"|".join(re2.escape(_encode(needle)) for needle in self.needles))

    def found(self, text: str) -> set[str]:
        """Names of the values that a text shows."""
        shown = [looked for looked in _decoded(text) if self._any.search(_encode(looked))]
        return {name for looked in shown for needle, name in self.needles.items() if needle in looked}

    def everywhere(self, locations: Mapping[str, str]) -> dict[str, set[str]]:
        """The same for many texts; those that show nothing are left out."""
        return {location: found for location, text in locations.items() if (found := self.found(text))}


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _needles(value: str) -> Iterator[str]:
    """The value's beginning, middle and end: a value that was cut in two, wrapped or escaped shows one of them."""
    for line in value.splitlines() or [value]:
        if len(line) < PART or line.startswith("-----"):
            continue
        middle = (len(line) - PART) // 2
        yield from {line[:PART], line[middle : middle + PART], line[-PART:]}
    for before in range(3):
        text = base64.b64encode(b"\0" * before + value.encode()).decode()
        own = text[-(-before * 8 // 6) : (before + len(value.encode())) * 8 // 6]
        yield own[:PART]
        yield own[-PART:]
    yield value.encode().hex()[: 2 * PART]
    yield value[::-1][:PART]


def _decoded(text: str) -> set[str]:
    """The text, and what is left of it once its escapes are undone."""
    plain = text.replace("\\u0026", "&").replace("\\u002b", "+").replace("\\u002B", "+").replace("\\/", "/")
    joined = html.unescape(text.replace("<wbr/>", ""))  # a page may break a path after a slash
    return {text, plain, joined, plain.replace('\\"', '"').replace("\\\\", "\\"), html.unescape(text), unquote(text)}


def files(folder: Path, *, but: Iterable[Path] = ()) -> dict[str, str]:
    """Every file below a folder by its path, except some folders and files; git's objects are unpacked."""
    left_out = tuple(but)
    texts = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not any(path == other or other in path.parents for other in left_out):
            texts[str(path)] = path.read_bytes().decode(errors="replace")
    return texts


def objects(repository: Path, branch: str) -> dict[str, str]:
    """Every object that a branch holds, in all of its history, and what its commits say."""

    def git(*words: str, given: bytes = b"") -> bytes:
        return subprocess.run(["git", "-C", repository, *words], check=True, capture_output=True, input=given).stdout

    names = git("rev-list", "--objects", "--no-object-names", branch)
    held, texts = git("cat-file", "--batch", given=names), {}
    while held:
        header, _, rest = held.partition(b"\n")
        name, _, size = header.decode().split()
        texts[f"{branch}:{name}"] = rest[: int(size)].decode(errors="replace")
        held = rest[int(size) + 1 :]
    return texts


def spellings(value: str) -> dict[str, str]:
    """A value as somebody else may write it: what a test puts in somebody's mouth."""
    return {
        "plain": value,
        "json": json.dumps(value)[1:-1],
        "python": repr(value)[1:-1],
        "url": quote(value, safe=""),
        "html": html.escape(value),
        "base64": base64.b64encode(value.encode()).decode(),
        "basic": base64.b64encode(f"user:{value}".encode()).decode(),
    }
