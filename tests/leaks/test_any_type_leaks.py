"""What `$secret` fills in bodies of random types: sent to Azure, and in no output of a run that creates, compares,
restores and fails.
"""

from __future__ import annotations

import io
import json
import traceback
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from gitsync.emulator.patch import find_value
from gitsync.model.report import Report
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Action
from gitsync.report import json as json_report
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from gitsync.settings.logging import set_up
from tests.leaks.hunting import Hunt, files
from tests.support.fault_rules import rules
from tests.support.random_bodies import RandomBody, make_random_body
from tests.support.world import GROUP, GROUP_ID, World

COUNT = 24
FORMS: Mapping[str, Any] = {
    "text": text, "markdown": markdown, "html": page, "json": json_report, "junit": junit, "sarif": sarif,
}  # fmt: skip
VALUES = {f"k{number}": f"S{number:02}cret-of-a-resource-{number * 7919}" for number in range(COUNT)}
CHANGED = {key: f"{value[::-1]}-in-Azure" for key, value in VALUES.items()}
"""What somebody puts in their place."""
HUNT = Hunt(**VALUES, **{f"{key} in Azure": value for key, value in CHANGED.items()})
DIGESTS = {"digest_key": Secret("a key of thirty-two characters...")}


def make_bodies() -> list[RandomBody]:
    """Bodies that have a text, of types that belong directly into a group."""
    made, seed = {}, 0
    while len(made) < COUNT:
        body, seed = make_random_body(seed, often=0.6), seed + 1
        nested = [path for path in body.texts if len(path) > 1 and all(isinstance(step, str) for step in path)]
        if body.arm_type.count("/") == 1 and body.in_group and nested:
            made.setdefault(body.arm_type, body._replace(texts=nested))
    return list(made.values())


BODIES = make_bodies()


def put(body: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    return {**body, path[0]: put(body[path[0]], path[1:], value)}


def write(number: int, made: RandomBody) -> str:
    spec = {
        "type": f"{made.arm_type}@{made.api_version}",
        "owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "core"},
        "body": put(made.body, made.texts[-1], {"$secret": {"name": "many", "key": f"k{number}"}}),
    }
    header = {"apiVersion": "azure.gitsync/v1", "kind": "AzureResource", "metadata": {"name": f"r{number}"}}
    return yaml.safe_dump({**header, "spec": spec}, sort_keys=False)


def find_id(number: int) -> str:
    return f"{GROUP_ID}/providers/{BODIES[number].arm_type}/r{number}"


@pytest.mark.parametrize("settings", [{}, DIGESTS], ids=["without digests", "with digests"])
def test_what_a_secret_fills_is_in_no_output(tmp_path, settings):
    echo = (
        f"{{match: {{method: PUT, path: '*/r3'}}, answer: {{status: 400, code: Bad, message: 'Not {VALUES['k3']}.'}}}}"
    )
    world = World(tmp_path, rules=rules(echo))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "many"}, "stringData": VALUES}
    world.says(group=GROUP, secret=json.dumps(secret), **{f"r{n}": write(n, made) for n, made in enumerate(BODIES)})
    stream = io.StringIO()
    set_up(level="debug", form="json", colour=False, mask=world.redactions.mask, stream=lambda: stream)
    shown: dict[str, str] = {}

    def look(step: str, report: Report) -> Report:
        shown.update({f"{step}: {name}": form.render(report) for name, form in FORMS.items()})
        faults = [result.ending.fault for result in report.results if result.ending.fault]
        shown[f"{step}: objects"] = f"{report!r} {[traceback.format_exception(fault) for fault in faults]}"
        return report

    look("plan", world.plan(**settings))
    created = look("sync", world.sync(**settings))
    sent = [number for number in range(COUNT) if number != 3]
    for number in sent:
        live = world.azure().resource(find_id(number))
        assert find_value(live, BODIES[number].texts[-1]) == VALUES[f"k{number}"]
        pointer = "/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in BODIES[number].texts[-1])
        world.somebody_changes(find_id(number), {pointer: CHANGED[f"k{number}"], "/tags": {"by": "somebody"}})
    look("drift", world.plan(**settings))
    look("restored", world.sync(**settings))
    refused = next(result for result in created.results if result.key.name == "r3")
    assert (refused.action, refused.message) == (Action.NONE, f"Not {MASKED}.")
    shown |= {"log": stream.getvalue(), **files(world.state)}
    assert HUNT.everywhere(shown) == {}
