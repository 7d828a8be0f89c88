"""Exports as lines NAME='value' of one file, which shells, python-dotenv and the hosts of pipelines read.

These readers agree only on a value in one line without a quote or a backslash. A value of several lines is refused: a
reader of single lines would read the second as another variable, which a manifest could choose. The lines of an object
follow a comment with their owner, and other lines are not changed.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.errors import ConfigError, SecretStoreError, UnsafePathError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.repository.secrets.private_files import FILE_MODE, check_private_file
from gitsync.repository.secrets.store_rules import check_export, check_names, check_owner, make_variable
from gitsync.settings.files.whole_files import open_parent, replace_file

_HEADER = re.compile(r"# gitsync: (Secret|ConfigMap) ([^/ ]+)/([^/ ]+), exported by (\S+(?: of .+)?)")
_ASSIGNMENT = re.compile(r"(?:export )?([A-Za-z_][A-Za-z0-9_]*)=")
_BARE = re.compile(r"[A-Za-z0-9_@%+=:,./-]*")
# A pipe in place of the file is not waited for.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_MODE = 0o777  # as the umask allows: the file itself is private
_LINE_END = re.compile(r"[\n\r\0\v\f\x1c-\x1e\x85\u2028\u2029]")


@dataclass(slots=True)
class Block:
    """The lines of one object, and its exporter."""

    owner: str
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class DotenvContent:
    """The content of the file: other lines unchanged, and the blocks of objects."""

    others: list[str] = field(default_factory=list)
    blocks: dict[Address, Block] = field(default_factory=dict)


class DotenvSink:
    """A Sink. Such a file has no annotations and labels. No link of a checkout or of `source` leads to it."""

    name = "dotenv"

    def __init__(self, file: Path, source: str | None = None) -> None:
        self._file = file
        self._source = source

    async def check(self) -> None:
        """Raise ConfigError if other users can read the file, or it cannot be written."""
        try:
            with self._lock(makes=_FOLDER_MODE) as folder:
                self._read(folder)
        except UnsafePathError as error:
            raise ConfigError(f"Secrets cannot be exported: {error.message}", hint=error.hint) from error
        except SecretStoreError as error:
            raise ConfigError(error.message, hint=error.hint) from error
        except OSError as error:
            raise ConfigError(
                f"Secrets cannot be exported to {self._file}: {error.strerror}.",
                hint="Grant this user write access, or change --export-dotenv.",
            ) from error

    async def owner(self, address: Address) -> str | None:
        check_names(address)
        with self._as_store_error():
            block = self._read_now().blocks.get(address)
        return block.owner if block else None

    def examine(self, exports: Sequence[Export]) -> None:
        """Raise SecretStoreError if two keys would be one variable, or a value has several lines."""
        with self._as_store_error():
            content = self._read_now()
        for export in exports:
            check_export(export)
            self._refuse_collisions(content, export)
            self._refuse_multiline(export)
            # The exports are examined together: a later one must not take the variable of an earlier one.
            content.blocks[export.address] = Block(str(export.owner), _format_lines(export))

    def _refuse_multiline(self, export: Export) -> None:
        multiline = sorted(key for key, value in export.data.items() if _LINE_END.search(value.reveal()))
        if multiline:
            raise SecretStoreError(
                f"{multiline[0]} of {export.address} has several lines, and is not written to {self._file}: not all "
                "readers of such files support multi-line values.",
                hint="Export to a folder instead.",
            )

    async def write(self, export: Export) -> None:
        self.examine((export,))
        block = Block(str(export.owner), _format_lines(export))
        with self._as_store_error(), self._lock() as folder:
            content = self._read(folder)
            existing = content.blocks.get(export.address)
            check_owner(export, existing.owner if existing else None, f"{export.address} in {self._file}")
            if existing != block:
                # Another run may have written a variable of this name since `examine` looked.
                self._refuse_collisions(content, export)
                content.blocks[export.address] = block
                self._replace(folder, content)

    async def remove(self, address: Address, owner: Owner) -> None:
        check_names(address)
        with self._as_store_error(), self._lock() as folder:
            content = self._read(folder)
            block = content.blocks.pop(address, None)
            if block and block.owner == str(owner):
                self._replace(folder, content)

    def _refuse_collisions(self, content: DotenvContent, export: Export) -> None:
        taken = dict.fromkeys(_list_names(content.others), "a line that gitsync did not write")
        for address, block in content.blocks.items():
            if address != export.address:
                taken |= dict.fromkeys(_list_names(block.lines), str(address))
        for key in sorted(export.data):
            name = make_variable(export.address, key)
            if name in taken:
                raise SecretStoreError(
                    f"{key} of {export.address} would be {name} in {self._file}, which {taken[name]} sets already.",
                    hint="Rename one of them, or export to a folder.",
                )
            taken[name] = f"its key {key}"

    @contextmanager
    def _lock(self, *, makes: int | None = None) -> Iterator[int]:
        """Open the folder of the file, and lock it against other runs: the lock is short, so they wait for it."""
        with open_parent(self._file, self._source, makes=makes) as folder:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield folder

    def _read_now(self) -> DotenvContent:
        """Read the file without a lock, as it is at this moment."""
        try:
            with open_parent(self._file, self._source) as folder:
                return self._read(folder)
        except FileNotFoundError:
            return DotenvContent()

    def _read(self, folder: int) -> DotenvContent:
        check_private_file(self._file, folder)
        try:
            with os.fdopen(os.open(self._file.name, _READ, dir_fd=folder), "rb") as stream:
                text = stream.read().decode()
        except FileNotFoundError:
            return DotenvContent()
        except UnicodeDecodeError:
            raise SecretStoreError(f"{self._file} is not text in UTF-8.", hint="Use another file.") from None
        return _parse(text)

    def _replace(self, folder: int, content: DotenvContent) -> None:
        replace_file(folder, self._file.name, _format_content(content).encode(), FILE_MODE)
        os.fsync(folder)  # a rename is on the disk only with its folder

    @contextmanager
    def _as_store_error(self) -> Iterator[None]:
        try:
            yield
        except UnsafePathError as error:
            raise SecretStoreError(f"Nothing is exported: {error.message}", hint=error.hint) from error
        except OSError as error:
            raise SecretStoreError(
                f"{self._file} cannot be read or written: {error.strerror}.", hint="Grant this user write access."
            ) from error


def quote_value(value: str) -> str:
    """Quote a value of one line for POSIX shells, and for python-dotenv if it has such a quoting."""
    if _BARE.fullmatch(value) and value:
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    if "$" not in value and "`" not in value:
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    # python-dotenv has no quoting for a single quote or a backslash beside a dollar or a backtick: then the rules of
    # the shell apply.
    return "'" + value.replace("'", "'\\''") + "'"


def _format_lines(export: Export) -> list[str]:
    return [
        f"{make_variable(export.address, key)}={quote_value(export.data[key].reveal())}" for key in sorted(export.data)
    ]


def _list_names(lines: Sequence[str]) -> list[str]:
    return [match[1] for line in lines if (match := _ASSIGNMENT.match(line))]


def _parse(text: str) -> DotenvContent:
    """Parse the lines of the file: a block is its header and the assignments of its object right under it."""
    content = DotenvContent()
    block: Block | None = None
    prefix = ""
    for line in text.removesuffix("\n").split("\n") if text else []:
        if header := _HEADER.fullmatch(line):
            address = Address(ObjectKind(header[1]), header[2], header[3])
            prefix = make_variable(address, "")
            block = content.blocks[address] = Block(header[4])
        # Any other line ends the block: a person may have added one below it, which is kept.
        elif block is not None and line.startswith(prefix) and _ASSIGNMENT.match(line):
            block.lines.append(line)
        else:
            block = None
            content.others.append(line)
    return content


def _format_content(content: DotenvContent) -> str:
    lines = list(content.others)
    for address, block in sorted(content.blocks.items(), key=lambda item: item[0]):
        lines += [f"# gitsync: {address}, exported by {block.owner}", *block.lines]
    return "".join(f"{line}\n" for line in lines)
