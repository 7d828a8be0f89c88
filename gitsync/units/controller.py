"""A controller that applies what its objects name, in a cluster: how its objects are found and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from gitsync.manifests.expansions import ExpansionBudget
from gitsync.manifests.yaml_documents import TEMPLATE, Document
from gitsync.model.problem import Level, Problem
from gitsync.units.charts import Chart
from gitsync.units.closure import KustomizationReader
from gitsync.units.declarations import Declarations, ThisRepository
from gitsync.units.object_fields import InvalidFieldError

_FIX: Final = "Fix it: until then nothing that it builds is read, and nothing of it is deleted."


@dataclass(frozen=True, slots=True)
class SourceView:
    """What an object may refer to: the files of the source, and the repository that they are in. `used` has the paths
    of files that were read for an object, and `budget` is that of all templates. Mutable: readers change both. `charts`
    are those that are published elsewhere too, by name.
    """

    reader: KustomizationReader
    repository: ThisRepository = field(default_factory=ThisRepository)
    used: set[str] = field(default_factory=set)
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)
    charts: Mapping[str, Chart] = field(default_factory=dict)


Reader = Callable[[Document, SourceView], Declarations]
"""Returns what one object declares. InvalidFieldError if it cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """`word` is in every file that has objects of it, and `pattern` matches those. `readers` are by the group and the
    kind of objects, and `invalid` is the code of problems of those that cannot be read. Objects of the types in
    `as_written` are read with their variables as they are.
    """

    name: str
    word: bytes
    pattern: re.Pattern[bytes]
    readers: Mapping[tuple[str, str], Reader]
    invalid: str
    as_written: frozenset[tuple[str, str]] = frozenset()

    def is_mentioned(self, content: bytes) -> bool:
        """Tell whether a file may have objects of it."""
        return self.word in content and self.pattern.search(content) is not None

    def explain(self, error: InvalidFieldError, document: Document) -> Problem:
        """The problem of an object that cannot be read."""
        return error.make_problem(document, code=self.invalid, hint=_FIX)

    def explain_hidden(self, problem: Problem) -> Problem:
        """The problem of a file that does not parse, and may have objects. What a template stands for is not known
        here, and not used.
        """
        if problem.code == TEMPLATE and not problem.is_error:
            return replace(problem, level=Level.NOTE)
        return Problem(
            code=self.invalid,
            message=f"The file mentions {self.name}, but cannot be read, so the objects in it are not known.",
            hint=_FIX,
            path=problem.path,
            line=problem.line,
        )
