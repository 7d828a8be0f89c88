"""Reads objects of controllers, which apply what their objects name in a cluster: how the objects are found, their
fields, each of its type, and the charts that they take by name.

gitsync.yaml may call a chart published: objects take it from a Helm repository or a registry, by its name. It is
rendered from this repository, so that its values need not be copied.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.yaml_documents import TEMPLATE, Document
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.model.problem import Level, Problem
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.charts import Chart, read_chart
from gitsync.repository.units.declarations import Declarations, GitAddress, ObjectName, SourceName, ThisRepository
from gitsync.repository.units.kustomization_reader import KustomizationReader

_FIX: Final = "Fix it: until then, its resources are neither read nor deleted."
_VERSION: Final = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:[-+_][0-9A-Za-z.+_-]+)?")


class InvalidFieldError(Exception):
    """Ends the reading of one object, and never leaves this package. `where` is the field, and `hint` an order."""

    source: SourceName | GitAddress | None = None  # what the object is built from, if that was read before

    def __init__(self, where: FieldPath, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.where, self.message, self.hint = where, message, hint

    def make_problem(self, document: Document, *, code: str, hint: str) -> Problem:
        """Make the problem of the object. `hint` is for errors without one."""
        return Problem(
            code=code,
            message=self.message,
            hint=self.hint or hint,
            path=document.path,
            line=document.line(*self.where),
            field=format_field(self.where),
        )


@contextmanager
def attribute_errors_to(source: SourceName | GitAddress) -> Iterator[None]:
    """Note that what cannot be read inside is of an object that is built from a source."""
    try:
        yield
    except InvalidFieldError as error:
        error.source = source
        raise


def find_type(document: Document) -> tuple[str, str]:
    """Find the group and the kind of an object."""
    return document.value["apiVersion"].partition("/")[0], document.value["kind"]


def read_key(document: Document, namespace: str) -> ObjectName:
    """Read the name of an object; `namespace` is that of one that names none."""
    # A spec that is not a mapping is the problem, and not that it lacks the first field that is read.
    read_mapping(document, ("spec",))
    name = read_text(document, ("metadata", "name"))
    return ObjectName(read_text(document, ("metadata", "namespace"), default=namespace), name)


def find_field(document: Document, where: FieldPath) -> Any:
    """Find the value of a field; None if it or one above it is missing."""
    return find_member(document.value, *where)


def read_text(document: Document, where: FieldPath, default: str = "") -> str:
    value = find_field(document, where)
    if value is None and default:
        return default
    if not isinstance(value, str) or not value:
        raise InvalidFieldError(where, f"{format_field(where)} is not set, or is not text.")
    return value


def read_mapping(document: Document, where: FieldPath) -> Mapping[str, Any]:
    value = find_field(document, where)
    if not isinstance(value, dict | None):
        raise InvalidFieldError(where, f"{format_field(where)} is not a mapping.")
    return value or {}


def read_texts(document: Document, where: FieldPath) -> Mapping[str, str]:
    """Read a mapping of texts."""
    values = read_mapping(document, where)
    for name, value in values.items():
        if not isinstance(value, str):
            raise InvalidFieldError((*where, name), f"The value of {name} is not text.", "Quote it.")
    return values


def read_list(document: Document, where: FieldPath) -> list[Any]:
    value = find_field(document, where)
    if not isinstance(value, list | None):
        raise InvalidFieldError(where, f"{format_field(where)} is not a list.")
    return value or []


def read_switch(document: Document, where: FieldPath, *, default: bool = False) -> bool:
    value = find_field(document, where)
    if not isinstance(value, bool | None):
        raise InvalidFieldError(where, f"{format_field(where)} is neither true nor false.")
    return default if value is None else value


def read_path(document: Document, where: FieldPath) -> str:
    """Read the path of a folder from the root of its repository, "" for the root."""
    text = read_text(document, where, default="./")
    path = posixpath.normpath(f"./{text}")
    if path == ".." or path.startswith("../") or "\0" in path:
        raise InvalidFieldError(where, f"The path {text!r} leads out of the repository.")
    return "" if path == "." else path


def read_optional(document: Document, where: FieldPath) -> str:
    """Read a text that may be missing, "" then."""
    return "" if find_field(document, where) in ("", None) else read_text(document, where)


@dataclass(frozen=True, slots=True)
class SourceView:
    """What an object may refer to: the files of the source, and the repository that they are in. Mutable: readers of
    objects change what was used.
    """

    reader: KustomizationReader
    repository: ThisRepository = field(default_factory=ThisRepository)
    used: set[str] = field(default_factory=set)  # the paths of files that were read for an object
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)  # of all templates
    charts: Mapping[str, Chart] = field(default_factory=dict)  # those that are published elsewhere too, by name


ObjectReader = Callable[[Document, SourceView], Declarations]
"""Returns what one object declares. InvalidFieldError if it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """A controller whose objects declare units."""

    name: str
    word: bytes  # in every file that has objects of it
    pattern: re.Pattern[bytes]  # matches the files that have objects of it
    readers: Mapping[tuple[str, str], ObjectReader]  # by the group and the kind of objects
    invalid: str  # the code of problems of objects that cannot be read
    as_written: frozenset[tuple[str, str]] = frozenset()
    """The types of objects that are read with their variables as they are."""

    def is_mentioned(self, content: bytes) -> bool:
        """Return whether a file may have objects of it."""
        return self.word in content and self.pattern.search(content) is not None

    def explain(self, error: InvalidFieldError, document: Document) -> Problem:
        """Make the problem of an object that cannot be read."""
        return error.make_problem(document, code=self.invalid, hint=_FIX)

    def explain_hidden(self, problem: Problem) -> Problem:
        """Make the problem of a file that does not parse, and may have objects."""
        # What a template stands for is not known here, and not used.
        if problem.code == TEMPLATE and not problem.is_error:
            return replace(problem, level=Level.NOTE)
        return Problem(
            code=self.invalid,
            message=f"The file mentions {self.name}, but cannot be read, so the objects in it are not known.",
            hint=_FIX,
            path=problem.path,
            line=problem.line,
        )


def read_published(paths: Iterable[str], reader: KustomizationReader) -> tuple[Mapping[str, Chart], list[Problem]]:
    """Return the charts at the paths of some Chart.yaml by name, and a problem for each that cannot be read, or has the
    name of another one.
    """
    charts: dict[str, list[Chart]] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            chart = read_chart(path, reader)
        except ChartError as error:
            problems.append(error.problem)
            continue
        charts.setdefault(chart.name, []).append(chart)
    for name, (first, *others) in charts.items():
        for other in others:
            message = f"{first.path} and {other.path} are both the published chart {name}."
            hint = "Set `published: false` for one of them in gitsync.yaml."
            problems.append(ChartError(message, hint=hint, path=other.path).problem)
    # Of two charts with one name, neither is used: which of them an object means is not known.
    return {name: found[0] for name, found in charts.items() if len(found) == 1}, problems


def compare_versions(document: Document, where: FieldPath, subject: str, chart: Chart | None) -> Iterator[Problem]:
    """Warn if an object requests another version of a published chart than this repository has. `subject` is what
    messages call the object.
    """
    requested = find_field(document, where)
    # A range is not a version.
    is_version = isinstance(requested, str) and _VERSION.fullmatch(requested) is not None
    if chart and is_version and _normalize_version(requested) != _normalize_version(chart.version):
        yield Problem(
            code="ChartVersion",
            level=Level.WARNING,
            message=f"{subject} requests version {requested} of the chart {chart.name}. {chart.folder} has version "
            f"{chart.version}, which is rendered.",
            hint="Set one to the other, or read the revision that was published, with --ref.",
            path=document.path,
            line=document.line(*where),
            field=format_field(where),
        )


def _normalize_version(version: str) -> str:
    """Normalize a version: tags write "v" and "_"."""
    return version.removeprefix("v").replace("_", "+")
