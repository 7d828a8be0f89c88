"""Flux's objects in documents: its Kustomizations, and the sources that they are built from.

Only what decides where manifests come from, and how they are changed, is read. The fields are those of
kustomize.toolkit.fluxcd.io and source.toolkit.fluxcd.io (https://fluxcd.io/flux/components/kustomize/kustomizations/).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from gitsync.manifests.list_items import split_list
from gitsync.manifests.metadata import is_object
from gitsync.manifests.origins import Origins
from gitsync.manifests.yaml_documents import Document, read_documents
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.unit import Substitution, Unit, ValuesReference
from gitsync.model.variables import VariableValues
from gitsync.problems.field_path import FieldPath, format_field
from gitsync.units.flux_variables import CHANGES, FluxVariables

KUSTOMIZE_GROUP: Final = "kustomize.toolkit.fluxcd.io"
SOURCE_GROUP: Final = "source.toolkit.fluxcd.io"
BOOTSTRAP_FILE: Final = "gotk-sync.yaml"
"""The file that `flux bootstrap` writes: its GitRepository is the repository that the file is in."""

_MENTIONS: Final = re.compile(rb"(?:kustomize|source)\.toolkit\.fluxcd\.io/")
_HOLDERS: Final = frozenset({"ConfigMap", "Secret"})
_FIX: Final = "Fix it: until then nothing that it builds is read, and nothing of it is deleted."


class ObjectName(NamedTuple):
    """The name of a Flux object."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


class SourceName(NamedTuple):
    """The name of the source of a Kustomization; `kind` is GitRepository for most."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxKustomization:
    """One Kustomization of Flux. `path` is its folder from the root of its source, "" for the root; `changes` are the
    fields of `CHANGES` that it has.
    """

    key: ObjectName
    declared_at: SourceLocation
    source: SourceName
    path: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    substitution: Substitution | None = None
    depends_on: tuple[ObjectName, ...] = ()
    prunes: bool = True
    is_suspended: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxObjects:
    """The objects of Flux in some files. `repositories` has the URL of each GitRepository, and `bootstrapped` are those
    of files that `flux bootstrap` wrote. `problems` are those of objects that cannot be read. `is_unknown` tells that
    one has a variable whose ConfigMap was not found yet.
    """

    kustomizations: tuple[FluxKustomization, ...] = ()
    repositories: Mapping[SourceName, str] = field(default_factory=dict)
    bootstrapped: frozenset[SourceName] = frozenset()
    problems: tuple[Problem, ...] = ()
    is_unknown: bool = False


class _Unfit(Exception):  # noqa: N818 - it ends the reading of one object, and becomes a problem at once
    def __init__(self, where: FieldPath, message: str) -> None:
        super().__init__(message)
        self.where, self.message = where, message


def find_flux_objects(
    files: Mapping[str, bytes],
    units: Mapping[str, Unit] | None = None,
    variables: FluxVariables | None = None,
) -> FluxObjects:
    """Return the objects of Flux in files. `files` maps a path to its content, `units` that of a built one to its unit,
    and `variables` has the values of variables in them. A text that does not parse is a problem if it mentions Flux.
    """
    reading = _Reading(variables or FluxVariables())
    for path in sorted(path for path, content in files.items() if _MENTIONS.search(content)):
        reading.read(path, files[path], (units or {}).get(path))
    repositories = [one for one in reading.found if isinstance(one, _Repository)]
    kustomizations = (one for one in reading.found if isinstance(one, FluxKustomization))
    return FluxObjects(
        kustomizations=tuple(sorted(kustomizations, key=lambda one: (one.declared_at, one.key))),
        repositories={one.name: one.url for one in repositories},
        bootstrapped=frozenset(one.name for one in repositories if posixpath.basename(one.path) == BOOTSTRAP_FILE),
        problems=tuple(reading.problems),
        is_unknown=reading.is_unknown,
    )


def mentions_flux(contents: Iterable[bytes]) -> bool:
    """Tell whether one of these files may have objects of Flux."""
    return any(_MENTIONS.search(content) for content in contents)


def join_flux_objects(parts: Iterable[FluxObjects]) -> FluxObjects:
    """Return the objects of several sets of files together."""
    parts = tuple(parts)
    return FluxObjects(
        kustomizations=tuple(chain.from_iterable(one.kustomizations for one in parts)),
        repositories={name: url for one in parts for name, url in one.repositories.items()},
        bootstrapped=frozenset().union(*(one.bootstrapped for one in parts)),
        problems=tuple(chain.from_iterable(one.problems for one in parts)),
        is_unknown=any(one.is_unknown for one in parts),
    )


class _Repository(NamedTuple):
    name: SourceName
    url: str
    path: str


@dataclass(slots=True)
class _Reading:
    """The reading of files. Mutable: it collects what it finds."""

    variables: FluxVariables
    found: list[FluxKustomization | _Repository] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    is_unknown: bool = False

    def read(self, path: str, content: bytes, unit: Unit | None) -> None:
        contents = read_documents(path, content)
        self.problems += map(_make_hidden, contents.problems[:1])
        values, origins = self.variables.find(unit), Origins()
        for document in chain.from_iterable(map(split_list, contents.documents)):
            if not _is_flux(document):
                continue
            located = origins.locate(document, unit) if unit else document
            self.add(located if values is None else self.replace(located, values, unit))

    def replace(self, document: Document, values: VariableValues, unit: Unit | None) -> Document | None:
        """The document with its variables replaced, None if that fails."""
        replaced = self.variables.replace(document, values, unit)
        self.problems += replaced.problems
        self.is_unknown = self.is_unknown or replaced.is_unknown
        return None if replaced.problems else replaced.document

    def add(self, document: Document | None) -> None:
        if document is None:
            return
        one = _read_object(document)
        if isinstance(one, Problem):
            self.problems.append(one)
        else:
            self.found.append(one)


def _is_flux(document: Document) -> bool:
    return is_object(document.value) and _find_type(document) in _READERS


def _find_type(document: Document) -> tuple[str, str]:
    return document.value["apiVersion"].partition("/")[0], document.value["kind"]


def _make_hidden(problem: Problem) -> Problem:
    return Problem(
        code="InvalidFluxObject",
        message="The file mentions Flux, but cannot be read, so the Kustomizations in it are not known.",
        hint=_FIX,
        path=problem.path,
        line=problem.line,
    )


def _read_object(document: Document) -> FluxKustomization | _Repository | Problem:
    try:
        return _READERS[_find_type(document)](document)
    except _Unfit as fault:
        return Problem(
            code="InvalidFluxObject",
            message=fault.message,
            hint=_FIX,
            path=document.path,
            line=document.line(*fault.where),
            field=format_field(fault.where),
        )


def _read_repository(document: Document) -> _Repository:
    key = _read_key(document)
    url = _read_text(document, ("spec", "url"))
    return _Repository(SourceName("GitRepository", *key), url, document.path)


def _read_kustomization(document: Document) -> FluxKustomization:
    key = _read_key(document)
    return FluxKustomization(
        key=key,
        declared_at=SourceLocation(document.path, document.line()),
        source=_read_source(document, key.namespace),
        path=_read_path(document),
        changes=_read_changes(document),
        substitution=_read_substitution(document, key.namespace),
        depends_on=tuple(_read_dependencies(document, key.namespace)),
        prunes=_read_switch(document, ("spec", "prune"), default=False),
        is_suspended=_read_switch(document, ("spec", "suspend"), default=False),
    )


_READERS: Final[Mapping[tuple[str, str], Callable[[Document], FluxKustomization | _Repository]]] = {
    (KUSTOMIZE_GROUP, "Kustomization"): _read_kustomization,
    (SOURCE_GROUP, "GitRepository"): _read_repository,
}


def _read_key(document: Document) -> ObjectName:
    _read_mapping(document, ("spec",))  # for what is no mapping has no fields
    name = _read_text(document, ("metadata", "name"))
    return ObjectName(_read_text(document, ("metadata", "namespace"), default="flux-system"), name)


def _read_source(document: Document, namespace: str) -> SourceName:
    where: FieldPath = ("spec", "sourceRef")
    return SourceName(
        _read_text(document, (*where, "kind")),
        _read_text(document, (*where, "namespace"), default=namespace),
        _read_text(document, (*where, "name")),
    )


def _read_path(document: Document) -> str:
    where: FieldPath = ("spec", "path")
    text = _read_text(document, where, default="./")
    path = posixpath.normpath(f"./{text}")
    if path == ".." or path.startswith("../") or "\0" in path:
        raise _Unfit(where, f"The path {text!r} leads out of the repository.")
    return "" if path == "." else path


def _read_changes(document: Document) -> dict[str, Any]:
    """The fields of `CHANGES` that are set, each of its type."""
    spec = _read_mapping(document, ("spec",))
    found = {name: spec[name] for name in CHANGES if spec.get(name) is not None}
    for name in found:
        _CHANGE_READERS.get(name, _read_text)(document, ("spec", name))
    for name in _read_mapping(document, ("spec", "commonMetadata")):
        _read_texts(document, ("spec", "commonMetadata", name))
    return {name: value for name, value in found.items() if value}


def _read_texts(document: Document, where: FieldPath) -> Mapping[str, str]:
    values = _read_mapping(document, where)
    for name, value in values.items():
        if not isinstance(value, str):
            raise _Unfit((*where, name), f"The value of {name} is not text. Quote it.")
    return values


def _read_substitution(document: Document, namespace: str) -> Substitution | None:
    if not _read_mapping(document, ("spec", "postBuild")):
        return None
    values = _read_texts(document, ("spec", "postBuild", "substitute"))
    return Substitution(values=values, references=tuple(_read_references(document, namespace)))


def _read_references(document: Document, namespace: str) -> Iterator[ValuesReference]:
    where: FieldPath = ("spec", "postBuild", "substituteFrom")
    for index in range(len(_read_list(document, where))):
        kind = _read_text(document, (*where, index, "kind"))
        if kind not in _HOLDERS:
            raise _Unfit((*where, index, "kind"), f"{kind!r} is neither ConfigMap nor Secret.")
        yield ValuesReference(
            kind=kind,
            namespace=namespace,
            name=_read_text(document, (*where, index, "name")),
            optional=_read_switch(document, (*where, index, "optional"), default=False),
        )


def _read_dependencies(document: Document, namespace: str) -> Iterator[ObjectName]:
    where: FieldPath = ("spec", "dependsOn")
    for index in range(len(_read_list(document, where))):
        name = _read_text(document, (*where, index, "name"))
        yield ObjectName(_read_text(document, (*where, index, "namespace"), default=namespace), name)


def _find(document: Document, where: FieldPath) -> Any:
    """The value of a field; None if it or one above it is missing."""
    value = document.value
    for step in where:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _read_text(document: Document, where: FieldPath, default: str = "") -> str:
    value = _find(document, where)
    if value is None and default:
        return default
    if not isinstance(value, str) or not value:
        raise _Unfit(where, f"{format_field(where)} is not set to a text.")
    return value


def _read_mapping(document: Document, where: FieldPath) -> Mapping[str, Any]:
    value = _find(document, where)
    if not isinstance(value, dict | None):
        raise _Unfit(where, f"{format_field(where)} is not a mapping.")
    return value or {}


def _read_list(document: Document, where: FieldPath) -> list[Any]:
    value = _find(document, where)
    if not isinstance(value, list | None):
        raise _Unfit(where, f"{format_field(where)} is not a list.")
    return value or []


def _read_switch(document: Document, where: FieldPath, *, default: bool) -> bool:
    value = _find(document, where)
    if not isinstance(value, bool | None):
        raise _Unfit(where, f"{format_field(where)} is neither true nor false.")
    return default if value is None else value


_CHANGE_READERS: Final[Mapping[str, Callable[[Document, FieldPath], Any]]] = {
    "patches": _read_list,
    "images": _read_list,
    "components": _read_list,
    "commonMetadata": _read_mapping,
}
"""How the fields of `CHANGES` are checked; the others are texts."""
