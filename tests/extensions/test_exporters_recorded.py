"""What Azure was recorded to answer is understood by the exporter whose action it is."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.arm_id import ArmId
from tests.extensions.asking import subject
from tests.extensions.exporting import exporters
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

FOLDER = RECORDINGS / "arm-traffic" / "actions"
NOT_OURS = {"microsoft.subscription.jsonl"}
"""Actions that give no keys."""

FILES = sorted(path for path in FOLDER.glob("*.jsonl") if path.name not in NOT_OURS)
recorded = needs_recordings(FOLDER)


class Replay:
    """Answers one recorded call; every other action answers nothing."""

    def __init__(self, record):
        self.record = record
        self.answered = False

    async def call(self, path, api_version, body=None, *, query=None):
        if path.casefold() != self.record["path"].casefold():
            return {"value": []}
        assert api_version == self.record["apiVersion"]
        self.answered = True
        return self.record["response"]

    async def pages(self, path, api_version):
        return (await self.call(path, api_version))["value"]


def requested_of(record):
    """The (group, kind, id) that the record may be about: the id is the path without its last segments."""
    steps = record["path"].split("/")
    ids = ["/".join(steps[:end]) for end in range(9, len(steps), 2)]
    catalog = open_catalog()
    return [
        (*kind, arm_id)
        for arm_id in ids
        for kind in exporters()
        if ArmId(arm_id).arm_type.casefold() == (catalog.arm_type(*kind) or "").casefold()
    ]


async def fields_from(record):
    """Every field that some exporter makes of a record, and its value."""
    found = {}
    for group, kind, arm_id in requested_of(record):
        for field in sorted(exporters()[group, kind].fields):
            azure = Replay(record)
            about = replace(subject(group, kind), arm_id=ArmId(arm_id))
            values = await exporters()[group, kind](about, azure, frozenset({field}))
            if azure.answered:
                found |= {(kind, name): secret.reveal() for name, secret in values.items()}
    return found


def texts(value):
    """Every text in an answer, and what it is in base64 where it is that."""
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from texts(member)
    elif isinstance(value, str):
        yield value
        if value == "IA==":
            yield base64.b64decode(value).decode()


@recorded
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_recorded_answers_give_their_fields(path):
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert records
    for record in records:
        found = await fields_from(record)
        assert found, record["path"]
        assert all(found.values()), "nothing is empty"
        assert set(found.values()) <= set(texts(record["response"]))
