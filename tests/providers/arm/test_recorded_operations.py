"""Operations as Azure was recorded to carry them out, played back over a socket: each ends as it did there."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gitsync.errors import ArmError
from tests.support.arm_rig import Rig
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings
from tests.support.scripted_server import Say

RECORDED = RECORDINGS / "arm-traffic" / "long-running"
HEADERS = {"location", "azure-asyncoperation", "operation-location", "retry-after"}

pytestmark = needs_recordings(RECORDED)


def played(answer: dict) -> Say:
    """A recorded answer, with the server instead of Azure."""
    headers = {
        name: value.replace("https://management.azure.com", "{url}")
        for name, value in answer.get("headers", {}).items()
        if name.lower() in HEADERS
    }
    return Say(answer["status"], answer["body"], headers)


def ends_badly(case: dict) -> bool:
    last = case["polls"][-1]["body"] if case["polls"] else None
    return isinstance(last, dict) and last.get("status") == "Failed"


async def play(rig: Rig, case: dict) -> None:
    rig.server.forget()
    path, version = case["path"], case["apiVersion"] or "none"
    rig.server.on(case["method"], path, played(case))
    for poll in case["polls"]:
        rig.server.on("GET", urlsplit(poll["url"]).path, played(poll))
    writer = rig.arm.writer(rig.talk(3600 * 6))
    writes = {"PUT": lambda: writer.put(path, version, {}), "DELETE": lambda: writer.delete(path, version)}
    reply = await writes.get(case["method"], lambda: writer.post(path, version))()
    if ends_badly(case):
        with pytest.raises(ArmError) as caught:
            await writer.wait(reply)
        assert caught.value.status == 200
        assert caught.value.code == case["polls"][-1]["body"]["error"]["code"]
    else:
        assert await writer.wait(reply) is True, path
    assert len(rig.server.seen) <= len(case["polls"]) + 3, f"{path}: asked more often than there was to see"


@pytest.mark.parametrize("file", sorted(RECORDED.glob("*.jsonl")), ids=lambda file: file.stem)
async def test_a_recorded_operation_ends_as_it_did(rig: Rig, file: Path):
    cases = [json.loads(line) for line in file.read_text().splitlines()]
    ours = [case for case in cases if case["path"].startswith("/")]
    for case in ours:
        await play(rig, case)
