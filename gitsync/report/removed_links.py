"""Counts the members and owners that Entra ID objects lose: an update takes them, and with them what they may do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from gitsync.desired.catalog.directory_relations import DirectoryRelation, find_body_relation
from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.verdict import Action


def count_removed_links(report: Report) -> Mapping[str, int]:
    """Count them by what one is called, `member` before `owner`: those that a sync removed, or that a sync of this plan
    would remove.
    """
    counts: Counter[str] = Counter()
    for result in report.results:
        if result.action is Action.UPDATE and (result.is_fine or report.command == "plan"):
            counts += Counter(relation.name.removesuffix("s") for relation, _ in _list_removed(result))
    return dict(sorted(counts.items()))


def _list_removed(result: Result) -> set[tuple[DirectoryRelation, str]]:
    """List the ids that only the live object has, with their relation. An id that gets another name stays."""
    live: set[tuple[DirectoryRelation, str]] = set()
    desired: set[tuple[DirectoryRelation, str]] = set()
    for difference in result.differences:
        relation = _find_relation(difference.path)
        for ids, object_id in ((live, difference.live), (desired, difference.desired)):
            if relation is not None and isinstance(object_id, str):
                ids.add((relation, object_id.lower()))
    return live - desired


def _find_relation(path: str) -> DirectoryRelation | None:
    """Find the relation of which a path of a body names one object."""
    steps = parse_pointer(path)
    return find_body_relation(str(steps[0])) if len(steps) == 2 else None
