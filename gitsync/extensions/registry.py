"""All registrations, built in and of other packages, and the chains made of them.

The chain of a kind is: extensions of other packages in the order of their entry points' names, then ours, then the
answer that agrees. So another package may look first, and pass the question on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from gitsync.core.classify import Classification, classify
from gitsync.errors import ArmError
from gitsync.extensions import (
    app,
    cdn,
    compute,
    containerservice,
    dataprotection,
    dbforpostgresql,
    documentdb,
    insights,
    kusto,
    machinelearningservices,
    network,
    redhatopenshift,
    servicebus,
    sql,
)
from gitsync.extensions.foreign import installed
from gitsync.extensions.points import CheckResult, Extension, Extensions, NextCheck, ReadsAzure, Subject, proceed

BUILT_IN: Extensions = (
    *app.EXTENSIONS,
    *cdn.EXTENSIONS,
    *compute.EXTENSIONS,
    *containerservice.EXTENSIONS,
    *dataprotection.EXTENSIONS,
    *dbforpostgresql.EXTENSIONS,
    *documentdb.EXTENSIONS,
    *insights.EXTENSIONS,
    *kusto.EXTENSIONS,
    *machinelearningservices.EXTENSIONS,
    *network.EXTENSIONS,
    *redhatopenshift.EXTENSIONS,
    *servicebus.EXTENSIONS,
    *sql.EXTENSIONS,
)


class Registry:
    """The chains of every kind. Made once, passed to the run."""

    def __init__(self, extensions: Iterable[Extension]) -> None:
        self._by_kind: dict[tuple[str, str], list[Extension]] = {}
        for extension in extensions:
            self._by_kind.setdefault((extension.group, extension.kind), []).append(extension)

    @classmethod
    def load(cls) -> Registry:
        """Join what other packages bring with what is built in."""
        return cls((*installed(), *BUILT_IN))

    def of(self, subject: Subject) -> list[Extension]:
        return self._by_kind.get((subject.key.group, subject.key.kind), [])

    def checks_owner(self, group: str, kind: str) -> bool:
        """Tell whether an extension of this kind wants the owner read."""
        return any(extension.owner_check for extension in self._by_kind.get((group, kind), []))

    async def owner_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _chain([e.owner_check for e in self.of(subject) if e.owner_check])(subject, azure)

    async def pre_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _chain([e.pre_check for e in self.of(subject) if e.pre_check])(subject, azure)

    async def post_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _chain([e.post_check for e in self.of(subject) if e.post_check])(subject, azure)

    def classify(self, error: ArmError, key: tuple[str, str]) -> Classification:
        """Class of what Azure refused for a (group, kind)."""
        chain: Callable[[ArmError], Classification] = classify
        for extension in reversed(self._by_kind.get(key, [])):
            if extension.classify:
                chain = partial(extension.classify, next=chain)
        return chain(error)

    def modified(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """Return the body to send, after every modifier of the kind."""
        for extension in self.of(subject):
            body = extension.modify(body, subject) if extension.modify else body
        return body


def _chain(checks: list[Any]) -> NextCheck:
    async def last(_subject: Subject, _azure: ReadsAzure) -> CheckResult:
        return proceed()

    chain: NextCheck = last
    for check in reversed(checks):
        chain = partial(check, next=chain)
    return chain
