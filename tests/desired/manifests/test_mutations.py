"""A slip of one character in the header of a manifest never leads to a delete: twenty slips for each example.

The header is what makes a document a resource: apiVersion, kind, metadata and name. Records are those of the examples
as they stand; the plan is made of the examples with one character changed.
"""

from __future__ import annotations

import random
import string
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.units import find_unit
from gitsync.desired.request.build import prepare
from gitsync.model.plan import RestOfSource
from gitsync.model.record import Claim, Record
from tests.support.parts import build
from tests.support.plans import make_plan

FOLDER = Path(__file__).resolve().parent.parent.parent.parent / "examples" / "manifests"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
CATALOG = open_catalog()
SLIPS = 20
LINES = 4
DOCUMENTS = 2
"""In a file: a slip has a document beside it, and no more to read than that takes."""
TYPED = string.ascii_letters + string.digits + string.punctuation + " \n\t"


@dataclass(frozen=True)
class Examples:
    """The examples as they stand: the texts of files of two documents each, the resources, and a record of each."""

    texts: dict
    prepared: tuple
    records: dict


@cache
def examples():
    files = {str(path.relative_to(FOLDER)): path.read_text() for path in sorted(FOLDER.rglob("*.yaml"))}
    texts = {f"{path}/{part}.yaml": text for path, file in files.items() for part, text in enumerate(split(file))}
    complete = read_manifests({path: text.encode() for path, text in texts.items()})
    prepared = prepare(complete, catalog=CATALOG, subscription=SUBSCRIPTION)
    return Examples(texts, prepared, {resource.key: record_of(resource) for resource in prepared})


def split(file):
    """The documents of a file, so many in each text."""
    documents = file.split("\n---\n")
    return ["\n---\n".join(documents[first : first + DOCUMENTS]) for first in range(0, len(documents), DOCUMENTS)]


def record_of(entry):
    return build(
        Record,
        key=entry.key,
        api_version=entry.resource.gvk.api_version,
        arm_id=entry.arm_id
        or f"/subscriptions/{SUBSCRIPTION}/providers/Known.ToTheRunAlone/{entry.key.kind}/{entry.key.name}",
        arm_api_version=entry.api_version or "",
        claim=Claim.CREATED,
        owner=entry.relations.owner.key if entry.relations.owner else None,
        depends_on=entry.relations.depends_on,
        unit=find_unit(entry.resource.source.path),
    )


def header_of(resource):
    """Where the first lines of a document begin and end in the text of its file."""
    lines = examples().texts[resource.source.path].splitlines(keepends=True)
    first = resource.source.line - 1
    start = sum(map(len, lines[:first]))
    return start, start + sum(map(len, lines[first : first + LINES]))


def slip(text, start, end, dice):
    at, typed = dice.randrange(start, end), dice.choice(TYPED)
    here = text[at]
    return dice.choice(
        [
            text[:at] + text[at + 1 :],
            text[:at] + typed + text[at:],
            text[:at] + typed + text[at + 1 :],
            text[:at] + here.swapcase() + text[at + 1 :],
            text[:at] + text[at + 1] + here + text[at + 2 :],
        ]
    )


def slips(resource):
    """Twenty different texts of the resource's file, each one slip away from it."""
    text, dice = examples().texts[resource.source.path], random.Random(str(resource.key))
    start, end = header_of(resource)
    found = {}
    while len(found) < SLIPS:
        changed = slip(text, start, end, dice)
        if changed != text:
            found[changed] = None
    return tuple(found)


def needed_by(key):
    """The resources that one depends on, near and far."""
    by_key = {example.key: example for example in examples().prepared}
    found, pending = set(), [key]
    while pending:
        for other in by_key[pending.pop()].relations.depends_on:
            if other not in found:
                found.add(other)
                pending.append(other)
    return [by_key[other].resource for other in sorted(found)]


def plan_after(resource, text):
    """The plan of the examples where the file of this resource has another text.

    All others are taken to be as valid as they are with it, so that nothing but the mistyped document holds it.
    """
    known, path = examples(), resource.source.path
    read = read_manifests({path: text.encode("utf-8", "surrogatepass")})
    left = Counter(resource.key for resource in read.resources) + Counter(
        resource.key for resource in known.prepared if resource.resource.source.path != path
    )
    kept = [resource for resource in known.prepared if left[resource.key]]
    new = tuple(resource for resource in read.resources if resource.key not in known.records or left[resource.key] > 1)
    mistyped = replace(read_manifests({}), resources=(*new, *needed_by(resource.key)))
    fresh = prepare(mistyped, catalog=CATALOG, subscription=SUBSCRIPTION) if new else ()
    declared = (*kept, *(entry for entry in fresh if entry.resource in new))
    return make_plan(declared, known.records, read.problems, around=RestOfSource(unread=read.unread))


@pytest.mark.parametrize(
    "resource",
    [example.resource for example in examples().prepared],
    ids=lambda resource: f"{resource.key.kind}-{resource.key.name}",
)
def test_no_slip_in_a_header_leads_to_a_delete(resource):
    gone = 0
    for text in slips(resource):
        plan = plan_after(resource, text)
        deleted = [key for key, node in plan.prunes.items() if not node.detaches and not node.kept_because]
        gone += resource.key in plan.prunes
        start, end = header_of(resource)
        assert deleted == [], text[start : end + 1]
    assert gone >= SLIPS // 4, "most slips make the resource leave git, or this test would say nothing"


def test_a_manifest_that_is_removed_is_deleted():
    """What the slips are held against: the same plan does delete what no one mistyped."""
    (record,) = [example for example in examples().prepared if example.key.kind == "DnsZonesCAARecord"]
    start, _ = header_of(record.resource)
    plan = plan_after(record.resource, examples().texts[record.resource.source.path][:start])
    assert not plan.prunes[record.key].kept_because
