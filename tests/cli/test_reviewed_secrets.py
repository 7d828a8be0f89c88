"""Plans that people review, where secrets come from exports, from elsewhere and from encrypted files: what is reported
of them, what is not, and that nothing is skipped without a word.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.support import private_ca
from tests.support.command_line import azure, in_background
from tests.support.fake_key_vault import FakeKeyVault
from tests.support.secret_estate import AT_ONCE, GROUP, Estate, account, secret, server

KEY_1 = "secrets: {key1: {name: lake, key: first}}"
DIGEST_KEY = {"GITSYNC_DIGEST_KEY": "d" * 40}
SOPS_KEY = {"SOPS_AGE_KEY": "AGE-SECRET-KEY-1XYZ"}
PASSWORD = "/properties/administratorLoginPassword"


@pytest.fixture
def estate(tmp_path):
    with azure(operations=AT_ONCE) as served:
        yield Estate(tmp_path, served)


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def vault(ca):
    with in_background(FakeKeyVault(ca.tls)) as vault:
        vault.make("default--db--password", "Marker-one")
        yield vault


def verdicts(ended):
    return {
        resource["name"]: (resource["verdict"], resource["reason"]) for resource in json.loads(ended.out)["resources"]
    }


def test_a_reviewed_plan_holds_what_it_saw_and_reports_what_it_could_not(estate, ca, vault):
    """A secret of the repository is held to its digest; one that only the sync requests is named in the plan's file."""
    sources = ("--secret-sources", "manifests,key-vault", "--key-vault", vault.url, "--ca-bundle", str(ca.bundle))
    servers = {"one": server("one", "lake", "first"), "two": server("two", "db"), "three": server("three", "plain")}
    estate.says(group=GROUP, account=account(KEY_1), plain=secret("plain", "Marker-plain"), **servers)

    def plan():
        ended = estate.run("plan", "--out", "../plan.json", *sources, **DIGEST_KEY)
        assert (ended.code, "Marker" in ended.out + ended.err) == (0, False), ended.err
        return ended

    def sync(*more):
        return estate.run("sync", "--output", "json", *more, *sources, **DIGEST_KEY)

    plan()
    assert vault.requests == []
    nodes = json.loads((estate.outside / "plan.json").read_text())["nodes"]
    told = {key.rpartition("/")[2]: (node.get("later"), node.get("secrets")) for key, node in nodes.items()}
    assert told == {
        "core": (["id"], None),  # the vault may have a credential with another subscription
        "lake": (["id"], None),
        "one": ([PASSWORD, "id"], None),
        "two": ([PASSWORD, "id"], None),
        "three": (["id"], True),
    }
    assert sync("--plan", "../plan.json").code == 0

    vault.make("default--db--password", "Marker-two")
    quiet = plan()
    assert "5 resources in sync" in quiet.out
    assert "This plan did not read every exported or external value" in quiet.out
    held = sync("--plan", "../plan.json")
    assert (held.code, verdicts(held)["two"]) == (1, ("pending", "NotReviewed")), "it changed, and nobody reviewed that"
    assert estate.password("two") == "Marker-one"
    free = sync()
    assert (free.code, estate.password("two")) == (0, "Marker-two")
    assert "Marker" not in held.out + held.err + free.out + free.err


def test_without_a_digest_key_a_secret_that_was_seen_is_not_written_by_a_reviewed_plan(estate):
    estate.says(group=GROUP, plain=secret("plain", "Marker-plain"), server=server("one", "plain"))
    assert estate.run("plan", "--out", "../plan.json").code == 0
    ended = estate.run("sync", "--plan", "../plan.json")
    assert ended.code == 1
    assert "SecretsNotReviewed" in ended.out
    assert "Set GITSYNC_DIGEST_KEY for plan and sync, and create a new plan." in ended.out


def test_a_reviewed_plan_writes_no_export_that_it_did_not_have(estate):
    """What is exported follows the revision, which a reviewed plan is held to."""
    estate.says(group=GROUP, account=account(KEY_1))
    assert estate.run("plan", "--out", "../plan.json").code == 0
    estate.says(group=GROUP, account=account(KEY_1.replace("first", "second")))
    ended = estate.run("sync", "--plan", "../plan.json", "--export-to", "folder", "--export-folder", "../out")
    assert (ended.code, "another revision" in ended.err) == (2, True)
    assert not (estate.outside / "out").exists()


def rehearse(estate, **variables):
    return estate.run("plan", "--from", "HEAD~1", "--to", "HEAD", "--report", "../report", **variables)


@pytest.mark.parametrize("variables", [{}, SOPS_KEY], ids=["without a key", "with a key"])
def test_two_revisions_tell_that_an_encrypted_secret_changed_and_want_no_key(estate, variables):
    everything = {"group": GROUP, "account": account(KEY_1), "one": server("one", "db"), "two": server("two", "other")}
    other = estate.sops.encrypted(secret("other", "Marker-of-another"))
    estate.says(**everything, sealed=estate.sops.encrypted(secret("db", "Marker-before")), other=other)
    estate.says(**everything, sealed=estate.sops.encrypted(secret("db", "Marker-after")), other=other)
    ended = rehearse(estate, **variables)
    assert ended.code == 0, ended.err
    assert re.search(r"update +FlexibleServer/one", ended.out)
    assert '~ spec.administratorLoginPassword: "<secret>" → "<secret>"' in ended.out
    assert "FlexibleServer/two" not in ended.out, "its own did not change"
    assert [text for text in (ended.out, ended.err, *estate.files("report").values()) if "Marker" in text] == []
    assert [text for text in (ended.out, *estate.files("report").values()) if "ENC[" in text] == []
    assert estate.azure.sent() == []


def test_two_revisions_report_what_is_wrong_with_an_expression(estate):
    before = "configMapExpressions: [{name: c, key: k, value: self.status.id}]"
    estate.says(group=GROUP, account=account(before), plain=secret("plain", "Marker"), one=server("one", "plain"))
    broken = account(before.replace("status.id", "status.idd"))
    estate.says(group=GROUP, account=broken, plain=secret("plain", "Marker"), one=server("one", "plain"))
    ended = rehearse(estate)
    assert ended.code == 1
    assert "account.yaml:10: error: InvalidExpression spec.operatorSpec.configMapExpressions[0].value" in ended.out
    assert "Did you mean 'id'?" in ended.out
    assert "Marker" not in ended.out + ended.err
    assert estate.azure.sent() == []
