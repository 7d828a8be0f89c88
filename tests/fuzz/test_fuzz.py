"""Made-up documents, records, plan files, ignore files and answers: each is read, or refused with an error of gitsync.

Any other exception would be an internal error (exit code 70). A few examples in each run of the tests; `make fuzz` goes
on for FUZZ_SECONDS, which the tests share.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.errors import GitsyncError
from gitsync.repository.git.source.file_selection import read_rules
from gitsync.repository.git.state.former_tree import convert_file
from gitsync.repository.git.state.plan_file import decode_plan as read_plan_text
from gitsync.repository.git.state.plan_file import read_plan
from gitsync.repository.git.state.record_files import decode_record
from gitsync.repository.git.state.status_tree import decode_config_map
from tests.support.arm_rig import API, GROUP, OPERATION, VNET, moving, rigged
from tests.support.replaced_files import LOCATIONS, contents, has_documents, list_deletes_after
from tests.support.scripted_server import Say

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "manifests"
SEEDS = [path.read_text() for path in sorted(EXAMPLES.rglob("*.yaml"))]
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))
FEW = 40
"""Examples of a test in a usual run."""

FORMER_RECORD = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  annotations: {serviceoperator.azure.com/resource-id: /subscriptions/s/resourceGroups/a}
  generation: 1
  name: a
  namespace: default
status:
  conditions:
  - {lastTransitionTime: "2030-01-01T00:00:00Z", observedGeneration: 1, reason: Succeeded, status: "True", type: Ready}
gitsync:
  armApiVersion: "2020-06-01"
  armId: /subscriptions/s/resourceGroups/a
  baseline: {location: x}
  claim: created
  dependsOn: [ResourceGroup.resources.azure.com/default/b]
  exports: [Secret/a]
  generation: 1
  operation: {kind: put, startedAt: "2030-01-01T00:00:00Z"}
  policy: manage
  row: {at: "2030-01-01T00:00:00Z", count: 1, paths: [/a]}
  schema: 1
  specDigest: x
  writes: 1
"""
RECORD = json.dumps(yaml.safe_load(FORMER_RECORD), indent=2) + "\n"
CONFIG_MAP = json.dumps(
    {
        "apiVersion": "v1",
        "data": {"a": "b"},
        "kind": "ConfigMap",
        "metadata": {
            "annotations": {"gitsync/owner": "ResourceGroup.resources.azure.com/default/a"},
            "name": "a",
            "namespace": "default",
        },
    }
)
PLAN = json.dumps(
    {
        "schema": 1,
        "repository": "r",
        "revision": "v",
        "prune": True,
        "digestKey": "",
        "nodes": {
            "ResourceGroup.resources.azure.com/default/a": {
                "action": "create",
                "desiredDigest": "x",
                "liveDigest": "",
                "etag": None,
                "secrets": False,
                "later": ["a"],
            }
        },
    },
    indent=1,
)
WORDS = re.compile(r"[A-Za-z0-9_./-]+|[^\w\s]|\s+")
UNEXPECTED = st.sampled_from(
    [
        *(
            "",
            "null",
            "~",
            "[]",
            "{}",
            "true",
            "-1",
            "1e400",
            ".nan",
            "99999999999999999999",
            "'",
            '"',
            "&a ",
            "*a",
            "<<: ",
        ),
        *(
            "!x ",
            "? ",
            "- ",
            ": ",
            "\n---\n",
            "\n...\n",
            "%YAML 1.1\n",
            "\t",
            "\0",
            "\ud800",
            "\u2028",
            "\ufeff",
            "\x85",
        ),
        *(
            "[[:nope:]]",
            "[z-a]",
            "\\",
            "2030-13-45",
            "0x",
            "1_",
            "${",
            "..",
            "/",
            "//",
            "a" * 300,
            "[" * 120,
            "{a: " * 120,
        ),
    ]
)


@st.composite
def slipped(draw, *seeds):
    """A text with a few words replaced, dropped, repeated or exchanged; as bytes, now and then not in UTF-8."""
    words = WORDS.findall(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 6))):
        at, other = (draw(st.integers(0, len(words))) for _ in range(2))
        words[at : at + draw(st.integers(0, 3))] = draw(
            st.lists(
                UNEXPECTED | st.text(max_size=5) | st.just(words[min(other, len(words) - 1)] if words else ""),
                max_size=3,
            )
        )
    return "".join(words).encode("utf-8", draw(st.sampled_from(["replace", "surrogatepass"])))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["value", "id", "name", "error", "code", "message", "details", "status", "properties", "nextLink"]
            )
            | st.text(max_size=3),
            inside,
            max_size=4,
        )
    ),
    max_leaves=12,
)
RAW = st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode())
HEADERS = st.dictionaries(
    st.sampled_from(["Retry-After", "Location", "Azure-AsyncOperation", "Content-Type", "x-ms-request-id"]),
    st.sampled_from(["", "-1", "1e9", "nan", "x", "/", "http://[", "application/json", "text/html; charset=nope"]),
)
SAID = st.builds(
    Say,
    st.sampled_from([200, 201, 202, 204, 301, 400, 404, 409, 412, 418, 429, 500, 503]),
    RAW.map(lambda raw: raw.decode("latin-1")),
    HEADERS,
)


def manifests(data, folder):
    """Everything up to the requests; the problems of bad documents are not errors at all."""
    files = {f"{number}.yaml": data.draw(slipped(*SEEDS)) for number in range(2)}
    found = read_manifests({**files, "a.json": data.draw(RAW)})
    prepare(found, catalog=open_catalog(), subscription="00000000-0000-0000-0000-000000000000")


def records(data, folder):
    decode_record("default/resources.azure.com/ResourceGroup/a.json", data.draw(slipped(RECORD)))


def former_records(data, folder):
    """Its conversion to JSON is read as the same record."""
    path, content = "default/resources.azure.com/ResourceGroup/a.yaml", data.draw(slipped(FORMER_RECORD))
    record = decode_record(path, content)
    assert decode_record(*convert_file(path, content)) == record


def exported_config_maps(data, folder):
    decode_config_map("default/ConfigMap/a.json", data.draw(slipped(CONFIG_MAP)))


def plan_files(data, folder):
    file = folder / "plan.json"
    file.write_bytes(data.draw(slipped(PLAN) | RAW))
    read_plan(file)


def ignore_files(data, folder):
    read_rules({".gitsyncignore": data.draw(slipped("*.tmpl\n!keep?.yaml\n/a/**/[a-z]/\n"))}).ignores("a/b/c.yaml")


def answers(data, folder):
    said = data.draw(st.lists(SAID, min_size=3, max_size=3))

    async def send_request() -> None:
        async with rigged(seconds=60) as rig:
            for method, path in (("GET", VNET), ("GET", f"{GROUP}/resources"), ("PUT", VNET)):
                rig.server.on(method, path, *said)
            rig.server.on("GET", OPERATION, *said)
            for call in (
                rig.reader.get(VNET, API),
                rig.reader.list(f"{GROUP}/resources", API),
                rig.writer.put(VNET, API, moving()),
            ):
                with suppress(GitsyncError):
                    await call

    asyncio.run(send_request())


def replaced_files(data, folder):
    """What is deleted had a file whose text is documents of something else."""
    files, path = LOCATIONS[data.draw(st.sampled_from(sorted(LOCATIONS)))]
    content = data.draw(contents())
    with tempfile.TemporaryDirectory(dir=folder) as own:
        assert list_deletes_after(Path(own), files, path, content) == [] or has_documents(content)


CHECKS = (manifests, records, former_records, exported_config_maps, plan_files, ignore_files, answers, replaced_files)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_hostile_input_is_read_or_refused(check, tmp_path):
    @settings(max_examples=200 if SECONDS else FEW, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def batch(data):
        with suppress(GitsyncError):
            check(data, tmp_path)

    end = time.monotonic() + SECONDS / len(CHECKS)
    batch()
    while time.monotonic() < end:
        batch()


def test_the_seeds_are_sound():
    """Else all that is made of them would be refused at its first line."""
    assert decode_record("default/resources.azure.com/ResourceGroup/a.json", RECORD.encode()).key.name == "a"
    assert decode_config_map("default/ConfigMap/a.json", CONFIG_MAP.encode() + b"\n").address.name == "a"
    assert len(read_plan_text(PLAN.encode()).nodes) == 1
