"""Collects what does not become a resource: unread documents, and the problems of a source's files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from gitsync.desired.manifests.unparsed_text import find_likely_header
from gitsync.desired.manifests.unread_documents import UnreadContent
from gitsync.desired.manifests.used_objects import FeedingObject, UsedObjects
from gitsync.model.gvk import Key
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit


@dataclass(slots=True)
class UnreadCollector:
    """What is unread so far. Mutable: it is filled document by document."""

    problems: list[Problem] = field(default_factory=list)  # those without a resource
    documents: list[UnreadDocument] = field(default_factory=list)
    """The documents that are not for gitsync and the rejected ones."""

    rejected: dict[Key, SourceLocation] = field(default_factory=dict)
    """The locations of unusable documents, by key without namespace."""

    about: dict[int, FeedingObject | bytes] = field(default_factory=dict)
    """The subjects of problems, by their positions: objects that resources may use, or texts that do not parse."""

    left: dict[int, FeedingObject] = field(default_factory=dict)
    """Rejected documents that resources may use, by their positions."""

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of problems and documents."""
        return len(self.problems), len(self.documents)

    def add(self, content: UnreadContent) -> None:
        self.problems.extend(content.problems)
        self.documents.extend(content.unread)

    def add_unparsed(self, path: str, texts: Iterable[tuple[int, bytes]]) -> None:
        """Note the resources that texts without a valid syntax declare, as far as they show them."""
        for first_line, text in texts:
            if header := find_likely_header(text):
                key = _make_key(header.api_version, header.kind, header.name)
                self.rejected.setdefault(key, SourceLocation(path, first_line + header.line))

    def reject_text(self, problem: Problem) -> None:
        """Account for a text without a readable document."""
        self.problems.append(problem)
        self.documents.append(UnreadDocument(source=SourceLocation(problem.path, problem.line), is_rejected=True))

    @contextmanager
    def within(self, unit: Unit | None) -> Iterator[None]:
        """Add the unit to everything that is collected in this context."""
        problems, documents = self.size
        yield
        if unit is not None:
            renderers = (unit.name,) if unit.renders else ()
            self.problems[problems:] = [
                replace(problem, unit=unit.name, rendered_by=renderers) for problem in self.problems[problems:]
            ]
            self.documents[documents:] = [replace(document, unit=unit.name) for document in self.documents[documents:]]

    def relate(self, since: tuple[int, int], about: FeedingObject) -> None:
        """Note that everything since a size is about an object."""
        problems, documents = since
        self.about |= dict.fromkeys(range(problems, len(self.problems)), about)
        self.left |= {
            position: about for position in range(documents, len(self.documents)) if self.documents[position].kind
        }

    def settle(self, used: UsedObjects) -> None:
        """Lower what is about objects that nothing uses, and note the keys of what stays rejected."""
        for position, about in self.about.items():
            if not (used.are_named_in(about) if isinstance(about, bytes) else used.has(about)):
                self.problems[position] = replace(self.problems[position], level=Level.NOTE)
        for position, object_ in self.left.items():
            if not used.has(object_):
                self.documents[position] = replace(self.documents[position], is_rejected=False)
        for document in self.documents:
            if document.is_rejected and document.kind:
                self.rejected.setdefault(_make_key(document.api_version, document.kind, document.name), document.source)


def _make_key(api_version: str, kind: str, name: str) -> Key:
    """Make the key of a document that is not read, without the namespace, which its unit may set."""
    return Key(api_version.rpartition("/")[0], kind, "", name)
