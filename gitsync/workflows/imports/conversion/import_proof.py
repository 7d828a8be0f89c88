"""The proof of an import: its manifests set nothing that Azure does not show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitsync.desired.request.placeholders import Shown
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.verdict import Difference
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import compare
from gitsync.workflows.imports.conversion.found_resources import FoundResource


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProof:
    """What came of one manifest: its errors, and each leaf that differs from what was read."""

    key: Key
    problems: tuple[Problem, ...] = ()  # its errors
    differences: tuple[Difference, ...] = ()  # the leaves that differ from what was read
    is_written: bool = True  # whether its policy lets gitsync write the resource

    @property
    def holds(self) -> bool:
        return not self.problems and not self.differences


def prove(imported: Mapping[Key, FoundResource], shown: Iterable[Shown]) -> Iterator[ImportProof]:
    """Compare the requests of imported manifests with the resources that they were made of."""
    requests = {request.prepared.key: request for request in shown}
    for key, resource in imported.items():
        yield _prove_one(key, resource, requests.get(key))


def prove_handover(imported: Mapping[Key, FoundResource], shown: Iterable[Shown]) -> Iterator[ImportProof]:
    """Check that each manifest stands for the resource that ASO has recorded. A resource that ASO never created has no
    id, and an id that is known only during a run is not compared. The subscription counts if there is only one.
    """
    requests = {request.prepared.key: request for request in shown}
    ids = [resource.arm_id for resource in imported.values()]
    # With several, each is that of a credential, which an import does not have.
    has_one_subscription = len({arm_id.subscription for arm_id in ids if arm_id}) < 2
    for key, resource in imported.items():
        own = requests.get(key)
        problems, recorded = _list_problems(own, key), resource.arm_id
        made = own.request.arm_id if own and own.request and "<" not in own.request.arm_id else recorded
        is_same = made.is_same(recorded) if has_one_subscription else _cut(made).is_same(_cut(recorded))
        differences = () if is_same or not recorded else (_make_other(made, recorded),)
        yield ImportProof(key=key, problems=problems, differences=differences)


def _cut(arm_id: ArmId) -> ArmId:
    """Return an id without its subscription."""
    return ArmId(arm_id.removeprefix(f"/subscriptions/{arm_id.subscription}"))


def _list_problems(shown: Shown | None, key: Key) -> tuple[Problem, ...]:
    problems = tuple(problem for problem in shown.prepared.problems if problem.is_error) if shown else ()
    missing = Problem(
        code="NoRequest",
        message=f"No unit of the repository reads the manifest of {key}.",
        hint="Name the file in the kustomization of its folder, or set --out to another folder.",
    )
    return problems if shown and shown.request else problems or (missing,)


def _make_other(made: str, wanted: str) -> Difference:
    return Difference("/id", made, wanted, "declares another resource")


def _prove_one(key: Key, resource: FoundResource, shown: Shown | None) -> ImportProof:
    problems = _list_problems(shown, key)
    if shown is None or shown.request is None:
        return ImportProof(key=key, problems=problems)
    if not shown.request.arm_id.is_same(resource.arm_id):
        other = _make_other(shown.request.arm_id, resource.arm_id)
        return ImportProof(key=key, problems=problems, differences=(other,))
    hints = replace(make_kind_hints(resource.kind), own_id=resource.arm_id)
    return ImportProof(
        key=key,
        problems=problems,
        differences=compare(shown.request.body, resource.body, None, hints).differences,
        is_written=shown.prepared.policy.allows_modify,
    )
