"""Finds the Helm charts of a source: the content of Chart.yaml, and every file that rendering a chart needs.

Helm takes the charts that a chart depends on from its folder charts/, and `helm dependency build` puts them there. For
those at `file://` in the source, gitsync does that in a copy; it fetches none. A packed chart there is read and packed
again, so that Helm sees the files that were checked and nothing else: two programs may read one archive in two ways.
"""

from __future__ import annotations

import gzip
import io
import json
import posixpath
import re
import tarfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.errors import SourceError
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.kustomization_files import resolve
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import find_folder, is_below

CHART: Final = "Chart.yaml"
MOST_CHARTS: Final = 200
"""The most charts in one: each that others depend on counts again for each of them, and for each of its aliases."""

MOST_FILES: Final = 100_000
"""The most files of these charts, counted in the same way."""

PACKED: Final = ".tgz"
SCHEMA: Final = "values.schema.json"

_OWN: Final = frozenset({"templates", "charts", "crds", "files"})
_OLD_DEPENDENCIES: Final = "requirements.yaml"
_LOCAL: Final = "file://"
_FEWER: Final = (
    f"Remove some of the dependencies: a chart has at most {MOST_CHARTS} with theirs, and {MOST_FILES:,} files."
)
_KNOWN_DRAFTS: Final = ("http://json-schema.org/", "https://json-schema.org/")

MOST_BYTES: Final = 50_000_000
"""The most that the packed charts of one chart have together, unpacked."""

_MOST_PACKED_FILES: Final = 10_000
_DEEPEST_PACKED: Final = 10

_ROOT: Final = re.compile(r"(?:charts/[^/]+/)*")
"""Where a packed chart has a chart: itself, and those that are unpacked in its folder charts/."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartDependency:
    """A chart that another one depends on."""

    name: str
    alias: str  # the name that its parent uses, which is its own if the parent gives none
    repository: str  # "" for a chart in charts/
    path: str  # the file that declares it
    line: int  # of its entry in that file


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A chart of the source."""

    path: str  # of its Chart.yaml
    name: str
    version: str = ""  # "" if it has none
    is_library: bool = False  # it has templates for other charts, and none of its own
    dependencies: tuple[ChartDependency, ...] = ()

    @property
    def folder(self) -> str:
        return find_folder(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartCopy:
    """Everything that rendering a chart needs."""

    chart: Chart
    files: Mapping[str, str]
    """The paths of a copy that has all dependencies in charts/, each with the file of the source that it is a copy of.
    """

    names: Mapping[str, str] = field(default_factory=dict)  # those that Helm has for the files


def list_charts(paths: Iterable[str]) -> tuple[str, ...]:
    """List the Chart.yaml of each chart, sorted; not of those inside of another one."""
    found = sorted(path for path in paths if path.endswith(CHART) and posixpath.basename(path) == CHART)
    folders = frozenset(map(find_folder, found))
    return tuple(path for path in found if not is_in_chart(find_folder(path), folders))


def is_in_chart(path: str, charts: Collection[str]) -> bool:
    """Return whether a file or folder belongs to one of the charts in some folders: other files beside do not."""
    if not charts:
        return False
    if posixpath.basename(path) == CHART and find_folder(path) in charts:
        return True
    outer = path
    while outer:
        outer, _, inner = outer.rpartition("/")
        if inner in _OWN and outer in charts:
            return True
    return False


def read_chart(path: str, reader: KustomizationReader) -> Chart:
    """Read the Chart.yaml at `path`, and the requirements.yaml of an old chart. Raises ChartError if it is not one."""
    document = _read_mapping(path, reader)
    name = document.value.get("name")
    if not isinstance(name, str) or not name:
        raise ChartError(f"{path} has no name.", hint="Set `name`.", path=path, line=document.line("name"))
    old = posixpath.join(find_folder(path), _OLD_DEPENDENCIES)
    with_old = _read_mapping(old, reader) if old in reader.tree.paths else None
    return Chart(
        path=path,
        name=name,
        version=str(document.value.get("version") or ""),
        is_library=document.value.get("type") == "library",
        dependencies=tuple(_list_dependencies(*filter(None, (document, with_old)))),
    )


def list_chart_files(path: str, reader: KustomizationReader) -> frozenset[str]:
    """List the files of the chart at `path` and of those at `file://` that it depends on, as far as they can be
    read.
    """
    pending, reached, files = [path], set[str](), set[str]()
    while pending:
        each = pending.pop()
        if each not in reached and each in reader.tree.paths:
            reached.add(each)
            files.update(reader.list_below(find_folder(each)))
            pending += list_local(each, reader)
    return frozenset(files)


def list_local(path: str, reader: KustomizationReader) -> tuple[str, ...]:
    """List the Chart.yaml of each chart at `file://` that the one at `path` depends on, () if that cannot be read."""
    try:
        chart = read_chart(path, reader)
    except (ChartError, SourceError):
        return ()
    local = (
        dependency.repository.removeprefix(_LOCAL)
        for dependency in chart.dependencies
        if dependency.repository.startswith(_LOCAL)
    )
    return tuple(posixpath.join(resolve(chart.folder, text), CHART) for text in local)


def copy_chart(folder: str, reader: KustomizationReader) -> ChartCopy:
    """Return what a copy of the chart in a folder needs, with all charts that it depends on.

    Raises ChartError if one of them cannot be read or is not in the source, or a schema names files elsewhere.
    """
    return _Copying(reader).copy(folder)


@dataclass(slots=True)
class _Copying:
    """Lays out one chart. Mutable: it is filled chart by chart."""

    reader: KustomizationReader
    files: dict[str, str] = field(default_factory=dict)
    """The paths of the copy, each with the file of the source that it is a copy of."""

    names: dict[str, str] = field(default_factory=dict)  # those that Helm has for the files
    count: int = 0  # of charts in this one, each again for each that depends on it

    def copy(self, folder: str) -> ChartCopy:
        chart = read_chart(posixpath.join(folder, CHART), self.reader)
        self.add(chart, folder, (chart.name,), ())
        return ChartCopy(chart=chart, files=self.files, names=self.names)

    def add(self, chart: Chart, folder: str, prefixes: tuple[str, ...], trail: tuple[str, ...]) -> None:
        """Add a chart at a path in the copy. `prefixes` begin the names that Helm has for its files, and `trail` are
        the folders of the charts that depend on it.
        """
        # Helm loads a chart again for each of its aliases.
        self.count += len(prefixes)
        if chart.folder in trail or self.count > MOST_CHARTS:
            message = f"{chart.path} depends on itself." if chart.folder in trail else f"{chart.path} is one too many."
            raise ChartError(message, hint=_FEWER, path=chart.path)
        inner = self.find_inner(chart)
        for path in self.reader.list_below(chart.folder):
            if not any(is_below(path, inner_chart.folder) for inner_chart in inner):
                self.add_file(path, posixpath.relpath(path, chart.folder or "."), folder, prefixes)
        for inner_chart in inner:
            inner_folder = posixpath.join(folder, posixpath.relpath(inner_chart.folder, chart.folder or "."))
            self.add(inner_chart, inner_folder, _extend(prefixes, inner_chart.name, chart), (*trail, chart.folder))
        for index, missing in enumerate(self.list_missing(chart, inner)):
            dependency_folder = posixpath.join(folder, "charts", f"dependency-{index}")
            self.add(missing, dependency_folder, _extend(prefixes, missing.name, chart), (*trail, chart.folder))

    def add_file(self, path: str, relative: str, folder: str, prefixes: Iterable[str]) -> None:
        if relative == SCHEMA:
            check_schema(path, self.reader.tree.read([path])[path], path)
        self.files[posixpath.join(folder, relative)] = path
        self.names.update({f"{prefix}/{relative}": path for prefix in prefixes})
        if len(self.names) > MOST_FILES:
            raise ChartError(f"{path} is one file too many.", hint=_FEWER, path=path)

    def find_inner(self, chart: Chart) -> list[Chart]:
        """Find the charts in the folder charts/ of a chart."""
        inner = posixpath.join(chart.folder, "charts")
        paths = [path for path in self.reader.list_below(inner) if posixpath.basename(path) == CHART]
        return [read_chart(path, self.reader) for path in paths if find_folder(find_folder(path)) == inner]

    def list_missing(self, chart: Chart, inner: Iterable[Chart]) -> Iterator[Chart]:
        """List the charts that a chart depends on, and that are not in its folder charts/. Those are taken from
        `file://`.
        """
        names = {inner_chart.name for inner_chart in inner}
        below = self.reader.list_below(posixpath.join(chart.folder, "charts"))
        # Helm names a packed chart NAME-VERSION.tgz.
        archives = [posixpath.basename(path) for path in below if path.endswith(PACKED)]
        for dependency in chart.dependencies:
            if dependency.name not in names and not any(name.startswith(f"{dependency.name}-") for name in archives):
                names.add(dependency.name)
                yield self.find_local(chart, dependency)

    def find_local(self, chart: Chart, dependency: ChartDependency) -> Chart:
        if not dependency.repository.startswith(_LOCAL):
            raise ChartError(
                f"{chart.name} depends on the chart {dependency.name}, which is not in its charts/ folder.",
                hint=f"Run `helm dependency build {chart.folder or '.'}` and commit charts/: gitsync fetches none.",
                path=dependency.path,
                line=dependency.line,
            )
        text = dependency.repository.removeprefix(_LOCAL)
        path = posixpath.join(resolve(chart.folder, text), CHART)
        if path not in self.reader.tree.paths:
            raise ChartError(
                f"{chart.name} depends on {dependency.repository[:200]}, and {path[:200]} is not in this source.",
                hint="Fix the path, or set SOURCE to the folder that contains both charts.",
                path=dependency.path,
                line=dependency.line,
            )
        found = read_chart(path, self.reader)
        # Helm goes by the name in Chart.yaml, so it would not find this one.
        if found.name != dependency.name:
            raise ChartError(
                f"{chart.name} depends on the chart {dependency.name}, but the one at {text} is {found.name}.",
                hint="Fix its name.",
                path=dependency.path,
                line=dependency.line,
            )
        return found


def _extend(prefixes: Collection[str], name: str, parent: Chart) -> tuple[str, ...]:
    """Extend what the names of the files of a chart begin with: Helm calls it by its aliases in the other chart."""
    aliases = [dependency.alias for dependency in parent.dependencies if dependency.name == name]
    if len(prefixes) * len(aliases) > MOST_CHARTS:
        raise ChartError(f"{name} is one too many in {parent.path}.", hint=_FEWER, path=parent.path)
    return tuple(f"{prefix}/charts/{alias}" for prefix in prefixes for alias in aliases or [name])


def _read_mapping(path: str, reader: KustomizationReader) -> Document:
    contents = read_documents(path, reader.tree.read([path])[path])
    for problem in contents.problems:
        raise ChartError(f"{path} cannot be read: {problem.message}", hint=problem.hint, path=path, line=problem.line)
    found = [document for document in contents.documents if document.value is not None]
    if len(found) != 1 or not isinstance(found[0].value, dict):
        raise ChartError(f"{path} is not one mapping.", hint="Write one `key: value` per line.", path=path)
    return found[0]


def _list_dependencies(*documents: Document) -> Iterator[ChartDependency]:
    for document in documents:
        entries = document.value.get("dependencies")
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            name = entry.get("name") if isinstance(entry, dict) else None
            if isinstance(name, str) and name:
                yield ChartDependency(
                    name=name,
                    alias=str(entry.get("alias") or name),
                    repository=str(entry.get("repository") or ""),
                    path=document.path,
                    line=document.line("dependencies", index),
                )


def check_schema(path: str, content: bytes, name: str) -> None:
    """Raise ChartError for a schema that Helm would look up other files or addresses for. It is in the file at `path`,
    and messages call it `name`.
    """
    try:
        pending: list[Any] = [json.loads(content)]
    except (ValueError, RecursionError) as error:
        raise ChartError(f"{name} is not JSON: {error}.", hint="Fix it.", path=path) from error
    while pending:
        node = pending.pop()
        members = node.items() if isinstance(node, dict) else ()
        pending.extend(node if isinstance(node, list) else [value for _, value in members])
        for key, value in members:
            is_remote = key in {"$ref", "$dynamicRef", "$recursiveRef"} and not str(value).startswith("#")
            if is_remote or (key == "$schema" and not str(value).startswith(_KNOWN_DRAFTS)):
                message = f"{name} refers to {str(value)[:200]!r}: gitsync reads no schema from elsewhere."
                raise ChartError(message, hint="Put the definition into the file, as `#/$defs/NAME`.", path=path)


def is_packed_dependency(path: str) -> bool:
    """Return whether Helm reads a file as a packed chart, as it does in each folder charts/."""
    folder, name = posixpath.split(path)
    return name.endswith(PACKED) and not name.startswith(("_", ".")) and posixpath.basename(folder) == "charts"


@dataclass(slots=True)
class ChartPacker:
    """Packs the charts in one chart again. Mutable: it counts what they have together."""

    size: int = 0
    files: int = 0
    charts: int = 0

    def repack(self, path: str, content: bytes, depth: int = 0) -> bytes:
        """Pack the chart at `path` of the source again, with its plain files. Raises ChartError if it cannot be read,
        is too large, or a schema in it names files elsewhere.
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
        """Unpack the files of a packed chart, with the names that Helm gives them."""
        self.charts += 1
        if self.charts > MOST_CHARTS or depth > _DEEPEST_PACKED:
            raise _make_too_large(path, f"{MOST_CHARTS} charts, or {_DEEPEST_PACKED} in each other")
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                # One byte more than allowed shows that there is more, and a bomb is not unpacked.
                unpacked = stream.read(MOST_BYTES - self.size + 1)
            self.size += len(unpacked)
            if self.size > MOST_BYTES:
                raise _make_too_large(path, f"{MOST_BYTES // 1_000_000} MB")
            # It is unpacked already: with another mode, tarfile would unpack a second layer without a limit.
            with tarfile.open(fileobj=io.BytesIO(unpacked), mode="r:") as archive:
                while member := archive.next():
                    self.files += 1
                    # A sparse file may be of any size with few bytes in the archive.
                    if self.files > _MOST_PACKED_FILES or member.issparse():
                        raise _make_too_large(path, f"{_MOST_PACKED_FILES} files")
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
    """Find the path of a file in its chart: what is below the one folder of the archive; Windows writes a backslash."""
    inside = member.replace("\\", "/").partition("/")[2]
    name = posixpath.normpath(inside)
    if not inside or inside.startswith("/") or name in {".", ".."} or name.startswith("../"):
        message = f"{path} is not a packed chart: it has the file {member[:200]!r}."
        raise ChartError(message, hint="Make it with `helm dependency build`.", path=path)
    return name


def _make_too_large(path: str, most: str) -> ChartError:
    message = f"The packed charts beside {path} have more than {most}."
    return ChartError(message, hint="Commit only the charts that it depends on.", path=path)
