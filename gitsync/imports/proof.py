"""The proof of an import: its manifests ask for nothing that Azure does not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitsync.diff.hints import find_kind_hints
from gitsync.diff.three_way import compare
from gitsync.imports.found import FoundResource
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.verdict import Difference
from gitsync.request.placeholders import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProof:
    """What came of one manifest: its errors, and each leaf that differs from what was read."""

    key: Key
    problems: tuple[Problem, ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.problems and not self.differences


def prove(imported: Mapping[Key, FoundResource], shown: Iterable[Shown]) -> Iterator[ImportProof]:
    """Compare the requests of imported manifests with the resources that they were made of."""
    requests = {one.prepared.key: one for one in shown}
    for key, resource in imported.items():
        yield _prove_one(key, resource, requests.get(key))


def _prove_one(key: Key, resource: FoundResource, shown: Shown | None) -> ImportProof:
    problems = tuple(problem for problem in shown.prepared.problems if problem.is_error) if shown else ()
    if shown is None or shown.request is None:
        missing = Problem(
            code="NoRequest",
            message=f"No unit of the repository reads the manifest of {resource.arm_id}.",
            hint="Name the file in the kustomization of its folder, or set --out to another folder.",
        )
        return ImportProof(key=key, problems=problems or (missing,))
    if shown.request.arm_id.casefold() != resource.arm_id.casefold():
        other = Difference("/id", shown.request.arm_id, resource.arm_id, "stands for another resource")
        return ImportProof(key=key, problems=problems, differences=(other,))
    hints = replace(find_kind_hints(resource.kind), own_id=resource.arm_id)
    return ImportProof(
        key=key, problems=problems, differences=compare(shown.request.body, resource.body, None, hints).differences
    )
