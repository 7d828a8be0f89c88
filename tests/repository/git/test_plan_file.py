"""Plan files: the same bytes for the same plan, and a clear word for everything that is not one."""

from __future__ import annotations

import json

import pytest

from gitsync.errors import ConfigError
from gitsync.model.plan import Review, Reviewed
from gitsync.model.verdict import Action
from gitsync.repository.git.state.plan_file import encode_plan, read_plan
from tests.support.builders import rg, vnet

PLAN = Review(
    repository="github.com/acme/estate",
    revision="a" * 40,
    prune=True,
    digest_key="bea73f46",
    nodes={
        vnet(): Reviewed(action=Action.UPDATE, desired="sha256:1", live="sha256:2", etag='W/"3"', secrets=True),
        rg(): Reviewed(action=Action.NONE, later=("/properties/a~1b", "id")),
    },
)


def test_what_is_written_is_read_back(tmp_path):
    (tmp_path / "plan.json").write_text(encode_plan(PLAN))
    assert read_plan(tmp_path / "plan.json") == PLAN


def test_the_order_of_the_nodes_does_not_matter():
    turned = Review(
        **{name: getattr(PLAN, name) for name in Review.__slots__} | {"nodes": dict(reversed(PLAN.nodes.items()))}
    )
    assert encode_plan(turned) == encode_plan(PLAN)
    assert encode_plan(PLAN).endswith("}\n")


def changed(**members):
    return json.dumps({**json.loads(encode_plan(PLAN)), **members})


def with_node(**members):
    node = {"action": "none", "desiredDigest": "", "liveDigest": "", "etag": None} | members
    return changed(nodes={str(rg()): {name: value for name, value in node.items() if value != "absent"}})


@pytest.mark.parametrize(
    "text, word, why",
    [
        ("", "is incomplete", "an empty file"),
        (encode_plan(PLAN)[:-30], "is incomplete", "cut off"),
        ("[]", "the file is not an object", "another document"),
        ("[" * 100_000, "is incomplete", "deeper than anything that was meant"),
        ("{}", "it has no schema", "another file of ours"),
        (changed(schema=2), "schema is 2", "of a newer gitsync"),
        (changed(schema="1"), "schema is '1'", "edited"),
        (changed(prune="yes"), "prune must be true or false", "edited"),
        (changed(revision=None), "revision is missing", "edited"),
        (changed(more=1), "more is not a known member", "what is not understood may narrow"),
        (encode_plan(PLAN).replace('"prune": true,', ""), "prune is missing", "edited"),
        (encode_plan(PLAN).replace('"prune": true', '"prune": true, "prune": false'), "has a member twice", "edited"),
        (changed(nodes={"core": {}}), "is not Kind.group/namespace/name", "no key"),
        (with_node(action="destroy"), "action is 'destroy', not one of none", "no action"),
        (with_node(etag=1), 'core"].etag must be a string', "edited"),
        (with_node(etag="absent"), 'core"].etag is missing', "edited"),
        (with_node(secrets="no"), 'core"].secrets must be true or false', "edited"),
        (with_node(later="id"), 'core"].later must be a list', "edited"),
        (with_node(more=1), "more is not a known member", "edited"),
        (b"\xff\xfe", "is incomplete", "not text"),
    ],
)
def test_a_file_that_is_not_a_plan_is_refused(tmp_path, text, word, why):
    file = tmp_path / "plan.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError) as refused:
        read_plan(file)
    assert word in refused.value.message, why
    assert str(file) in refused.value.message
    assert "gitsync plan --out" in refused.value.hint


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_plan(tmp_path / name)
