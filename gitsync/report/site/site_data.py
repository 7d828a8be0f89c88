"""All data files of the site, by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import gitsync
from gitsync.model.gvk import Key
from gitsync.model.verdict import OUTSIDE_WORD
from gitsync.report.html.links import find_portal
from gitsync.report.site.declared import SiteNeed, list_recorded_needs
from gitsync.report.site.estate import SiteEstate
from gitsync.report.site.overview import build_target, sort_drift
from gitsync.report.site.resource_tree import TreeRow, build_tree, choose_shard, count_shards
from gitsync.report.site.resources import ResourceContext, build_resource
from gitsync.report.site.shapes import FORMAT, DriftShape, EdgeKind, EdgesShape, History
from gitsync.report.site.states import choose_state

EDGE_KINDS: Final[tuple[EdgeKind, ...]] = ("owner", "reference", "set", "depends-on", "order")

DataFiles = Mapping[str, Any]
"""The value of each data file by its name."""


class Extras(NamedTuple):
    """What other commands found: the name of each file, and its JSON as a text."""

    coverage: Sequence[tuple[str, str]] = ()
    audit: Sequence[tuple[str, str]] = ()


class _Part(NamedTuple):
    """An estate, with what follows from it alone."""

    estate: SiteEstate
    shards: int  # how many files its resources are in
    states: Mapping[Key, str]  # of its resources
    needs: Mapping[str, Sequence[SiteNeed]]  # by key


def build_data(estates: Sequence[SiteEstate], extras: Extras) -> DataFiles:
    """Build the value of each data file of the site."""
    parts = [_split(estate) for estate in estates]
    rows = [row for number, part in enumerate(parts) for row in _list_rows(number, part)]
    newest_first = chain.from_iterable(reversed(estate.history.runs) for estate in estates)
    runs = sorted(newest_first, key=lambda run: (run["at"], run["target"]), reverse=True)
    months = sorted({run["at"][:7] for run in runs}, reverse=True)
    return {
        "site": {
            "format": FORMAT,
            "version": gitsync.__version__,
            "targets": [build_target(part.estate, part.states) for part in parts],
            "months": months,
            "has": {"coverage": bool(extras.coverage), "audit": bool(extras.audit)},
        },
        "tree": build_tree([estate.name.id for estate in estates], rows),
        "edges": _build_edges(parts, rows),
        "drift": _build_drift(estates),
        "removed": {"rows": [row for number, part in enumerate(parts) for row in _list_removed(number, part)]},
        **{f"activity/{month}": {"runs": [run for run in runs if run["at"][:7] == month]} for month in months},
        **dict(chain.from_iterable(map(_list_resources, parts))),
        **dict(chain.from_iterable(map(_list_histories, parts))),
        **({"coverage": {"files": extras.coverage}} if extras.coverage else {}),
        **({"audit": {"files": extras.audit}} if extras.audit else {}),
    }


def _split(estate: SiteEstate) -> _Part:
    records = estate.state.records
    # Changes outside of git are in the record itself.
    drift = {each["key"]: each["verdict"] for each in estate.history.open if each["verdict"] != OUTSIDE_WORD}
    declared = estate.declarations.needs
    return _Part(
        estate=estate,
        shards=count_shards(len(records)),
        states={key: choose_state(record, drift.get(str(key), "")) for key, record in records.items()},
        needs={
            str(key): declared.get(str(key), ()) if declared is not None else tuple(list_recorded_needs(record))
            for key, record in records.items()
        },
    )


def _list_rows(number: int, part: _Part) -> Iterator[TreeRow]:
    for key, record in part.estate.state.records.items():
        yield TreeRow(number, key, record, part.states[key], choose_shard(key, part.shards))


def _list_resources(part: _Part) -> Iterator[tuple[str, Any]]:
    """List the files with the pages of resources."""
    estate = part.estate
    # Others can push to the branch with the report, so its members may be anything.
    target = estate.report.get("target")
    endpoint = target.get("endpoint") if isinstance(target, Mapping) else ""
    context = ResourceContext(
        declarations=estate.declarations,
        needs=part.needs,
        referrers=_collect_referrers(part.needs),
        entries=estate.entries,
        portal=find_portal(endpoint if isinstance(endpoint, str) else ""),
        forge=estate.forge,
        revision=estate.revision,
    )
    shards: list[dict[str, Any]] = [{} for _ in range(part.shards)]
    for key, record in estate.state.records.items():
        shards[choose_shard(key, part.shards)][str(key)] = build_resource(record, part.states[key], context)
    yield from ((f"resources/{estate.name.id}/{number}", shard) for number, shard in enumerate(shards))


def _list_histories(part: _Part) -> Iterator[tuple[str, Any]]:
    """List the files with the histories of resources, each newest first."""
    shards: list[dict[str, Sequence[History]]] = [{} for _ in range(part.shards)]
    for key, history in sorted(part.estate.history.histories.items()):
        shards[choose_shard(key, part.shards)][key] = list(reversed(history))
    yield from ((f"history/{part.estate.name.id}/{number}", shard) for number, shard in enumerate(shards))


def _list_removed(number: int, part: _Part) -> Iterator[tuple[int, str, int, str]]:
    """List the resources that have a history and no record, newest first."""
    present = set(map(str, part.estate.state.records))
    gone = [(history[-1][0], key) for key, history in part.estate.history.histories.items() if key not in present]
    for time, key in sorted(gone, reverse=True):
        yield number, key, choose_shard(key, part.shards), time


def _collect_referrers(needs: Mapping[str, Iterable[SiteNeed]]) -> Mapping[str, Sequence[tuple[str, EdgeKind, str]]]:
    referrers: dict[str, list[tuple[str, EdgeKind, str]]] = {}
    for key, needed in needs.items():
        for need in needed:
            referrers.setdefault(need.target, []).append((key, need.kind, need.field))
    return referrers


def _build_edges(parts: Sequence[_Part], rows: Sequence[TreeRow]) -> EdgesShape:
    """Build the edges between rows."""
    by_key: dict[str, int] = {}
    own = {(row.target, str(row.key)): number for number, row in enumerate(rows)}
    for (_, key), number in own.items():
        by_key.setdefault(key, number)
    edges: list[tuple[int, int, int]] = []
    outside: list[tuple[int, str, int]] = []
    for target, part in enumerate(parts):
        for key, needs in part.needs.items():
            for need in needs:
                # A key that the own target lacks may be that of another.
                to, kind = own.get((target, need.target), by_key.get(need.target)), EDGE_KINDS.index(need.kind)
                if to is not None:
                    edges.append((own[target, key], to, kind))
                else:
                    outside.append((own[target, key], need.target, kind))
    return {"kinds": list(EDGE_KINDS), "edges": edges, "outside": outside}


def _build_drift(estates: Iterable[SiteEstate]) -> dict[str, list[DriftShape]]:
    known = list(estates)
    return {
        "open": sort_drift((each for estate in known for each in estate.history.open), "since"),
        "past": sort_drift((each for estate in known for each in estate.history.past), "until"),
    }
