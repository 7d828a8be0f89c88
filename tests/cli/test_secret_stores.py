"""Secrets from every location on this machine and in Key Vault to every other one, by the command as people start it.

Kubernetes is reached by the files that it mounts into a pod, at a path that no setting changes: whole runs with it are
with the tests of the locations elsewhere.
"""

from __future__ import annotations

import json
import stat

import pytest

from tests.support import private_ca
from tests.support.command_line import azure, in_background
from tests.support.fake_key_vault import FakeKeyVault
from tests.support.secret_estate import (
    AT_ONCE,
    GROUP,
    Estate,
    account,
    account_id,
    secret,
    server,
    server_id,
)

EXPORTS = """\
secrets: {key1: {name: lake, key: first}}
configMaps: {blobEndpoint: {name: where, key: blob}}
secretExpressions: [{name: app, key: connection, value: '"AccountKey=" + secret.key1'}]
"""
VALUES = {
    "plain": "Marker-from-a-manifest",
    "sealed": "Marker-from-sops",
    "mounted": "Marker-from-a-folder",
    "given": "Marker-from-a-variable",
    "kept": "Marker-from-a-vault",
}


@pytest.fixture
def estate(tmp_path):
    with azure(operations=AT_ONCE) as served:
        yield Estate(tmp_path, served)


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"))


def key_of(estate: Estate) -> str:
    """The account's first key, as the folder that it was exported to has it."""
    return (estate.outside / "out/secrets/default/lake/first").read_text()


def test_every_source_feeds_a_resource_and_every_sink_gets_what_is_exported(estate, ca, tmp_path):
    estate.says(
        group=GROUP,
        account=account(EXPORTS),
        plain=secret("plain", VALUES["plain"]),
        sealed=estate.sops.encrypted(secret("sealed", VALUES["sealed"])),
        producer=server("exported", "lake", "first"),
        **{name: server(name, name) for name in VALUES if name not in {"plain", "sealed"}},
        plain_server=server("plain", "plain"),
        sealed_server=server("sealed", "sealed"),
    ).pushes_to(tmp_path / "remote.git")
    estate.location("mounted", mounted__password=VALUES["mounted"])
    estate.sops.rules(estate.location("committed"))
    with in_background(FakeKeyVault(ca.tls)) as vault:
        vault.make("default--kept--password", VALUES["kept"])
        variables = {
            "GITSYNC_SECRET_SOURCES": "manifests,folder,environment,key-vault",
            "GITSYNC_SECRETS_FOLDER": "../mounted",
            "GITSYNC_SECRET_DEFAULT_GIVEN_PASSWORD": VALUES["given"],
            "GITSYNC_KEY_VAULT": vault.url,
            "GITSYNC_CA_BUNDLE": str(ca.bundle),
            "GITSYNC_EXPORT_TO": "status,folder,sops,dotenv,key-vault",
            "GITSYNC_EXPORT_FOLDER": "../out",
            "GITSYNC_EXPORT_SOPS_FOLDER": "../committed",
            "GITSYNC_EXPORT_DOTENV": "../.env",
            "SOPS_AGE_KEY": estate.sops.environment["SOPS_AGE_KEY"],
            "GITSYNC_DIGEST_KEY": "d" * 40,
        }

        planned = estate.run("plan", "--detailed-exitcode", **variables)
        assert (planned.code, vault.requests) == (3, []), planned.err
        assert not (tmp_path / "out").exists()
        assert estate.azure.sent("PUT", "POST") == []

        ended = estate.run("sync", "--report", "../report", "--log-level", "debug", **variables)
        assert ended.code == 0, ended.out + ended.err
        assert {name: estate.password(name) for name in VALUES} == VALUES
        key = key_of(estate)
        assert estate.password("exported") == key
        assert estate.files("out")["secrets/default/app/connection"] == f"AccountKey={key}"
        assert estate.files("out")["config-maps/default/where/blob"].startswith("https://lake.blob.")
        assert f"DEFAULT_LAKE_FIRST={key}\n" in (tmp_path / ".env").read_text()
        assert vault.values["default--lake--first"] == key
        assert "ENC[" in estate.files("committed")["default/lake.yaml"]

        again = estate.run("plan", "--detailed-exitcode", **variables)
        assert again.code == 0, again.out
        before = estate.files("out"), estate.files("committed"), vault.kept("default--lake--first").versions
        writes = len(estate.azure.sent("PUT", "PATCH"))
        assert estate.run("sync", **variables).code == 0
        assert (estate.files("out"), estate.files("committed"), vault.kept("default--lake--first").versions) == before
        assert len(estate.azure.sent("PUT", "PATCH")) == writes

    status = estate.git("--git-dir", str(tmp_path / "remote.git"), "log", "-p", "--all")
    assert '"blob": "https://lake.blob.' in status, "config maps are on the status branch"
    told = [planned.out, planned.err, ended.out, ended.err, status.partition("name: plain")[0]]
    told += estate.files("report").values()
    values = [*VALUES.values(), key]
    assert [value for value in values for text in told if value in text and value != VALUES["plain"]] == []
    assert [text for text in told[:4] if VALUES["plain"] in text] == []


def test_outputs_of_a_pipeline_are_masked_first(estate, tmp_path):
    estate.says(group=GROUP, account=account(EXPORTS))
    output = tmp_path / "output"
    output.touch()
    ended = estate.run("sync", "--export-to", "ci", GITHUB_ACTIONS="true", GITHUB_OUTPUT=str(output))
    assert ended.code == 0, ended.err
    text = output.read_text()
    key = text.split("DEFAULT_LAKE_FIRST<<")[1].splitlines()[1]
    assert f"::add-mask::{key}\n" in ended.out
    assert ended.out.count(key) == 2, "and in the mask of the connection, nowhere else"
    assert "DEFAULT_WHERE_BLOB<<" in text
    assert "::add-mask::https" not in ended.out, "a config map is not secret"


def test_what_is_parsed_has_no_lines_of_a_pipeline_in_it(estate, tmp_path):
    estate.says(group=GROUP, account=account(EXPORTS))
    output = tmp_path / "output"
    output.touch()
    ended = estate.run(
        "sync", "--export-to", "ci", "--output", "json", GITHUB_ACTIONS="true", GITHUB_OUTPUT=str(output)
    )
    assert json.loads(ended.out)["exitCode"] == ended.code == 0
    assert "::add-mask::" in ended.err


def test_settings_are_in_the_file_and_their_paths_count_from_the_working_folder(estate, tmp_path):
    settings = "secret-sources: [manifests, folder]\nsecrets-folder: ../mounted\n"
    settings += "export-to: [status, folder]\nexport-folder: ../out\n"
    (tmp_path / "settings.yaml").write_text(settings)
    estate.says(group=GROUP, account=account(EXPORTS), server=server("one", "db"))
    estate.location("mounted", default__db__password="Marker-of-a-folder")
    ended = estate.run("sync", "--config", "../settings.yaml")
    assert ended.code == 0, ended.out
    assert estate.password("one") == "Marker-of-a-folder"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").rglob("*")}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_an_export_folder_inside_the_repository_is_not_part_of_it(estate):
    manifest = GROUP.replace("\n", "\\n").replace("name: core", "name: stowaway")
    exports = f"configMapExpressions: [{{name: stowaway, key: group.yaml, value: '\"{manifest}\"'}}]"
    estate.says(group=GROUP, account=account(exports))
    arguments = ("--export-to", "folder", "--export-folder", "out")
    assert estate.run("sync", *arguments).code == 0
    assert (estate.folder / "out/config-maps/default/stowaway/group.yaml").exists()
    again = estate.run("sync", *arguments)
    assert (again.code, "stowaway" in again.out, "Uncommitted" in again.out) == (0, False, False), again.err
    assert estate.run("validate").out.startswith("2 resources in 2 files")
    assert estate.git("status", "--short") == "", "and nobody commits it by mistake"


def test_encrypted_exports_are_committed_and_no_plan_needs_the_key_for_them(estate):
    estate.says(group=GROUP, account=account(EXPORTS), consumer=server("one", "lake", "first"))
    estate.sops.rules(estate.folder)
    estate.git("add", "-A")
    estate.git("commit", "-q", "-m", "Rules")
    sops = ("--export-to", "sops", "--export-sops-folder", "exported")
    key = estate.sops.environment["SOPS_AGE_KEY"]
    assert estate.run("sync", *sops, SOPS_AGE_KEY=key).code == 0
    uncommitted = estate.run("sync", *sops, SOPS_AGE_KEY=key)
    assert (uncommitted.code, "uncommitted changes" in uncommitted.err) == (2, True)
    estate.git("add", "-A")
    estate.git("commit", "-q", "-m", "Exports")
    assert estate.run("sync", *sops, SOPS_AGE_KEY=key).code == 0
    assert estate.git("status", "--short") == "", "what did not change is not written anew"
    planned = estate.run("plan", *sops)
    assert (planned.code, "cannot be decrypted" in planned.out) == (0, False), "the export of the run goes first"


def test_a_renamed_key_goes_and_what_still_requests_it_is_reported(estate):
    consumer = server("one", "lake", "first")
    export = ("--export-to", "folder", "--export-folder", "../out")
    estate.says(group=GROUP, account=account(EXPORTS), consumer=consumer)
    assert estate.run("sync", *export).code == 0
    renamed = EXPORTS.replace("key: first", "key: second")
    estate.says(group=GROUP, account=account(renamed), consumer=consumer)
    for command in (("plan",), ("sync", *export)):
        ended = estate.run(*command)
        assert ended.code == 1
        assert 'Secret "default/lake" does not contain key "first"' in ended.out
    assert "secrets/default/lake/second" in estate.files("out")
    assert "secrets/default/lake/first" not in estate.files("out")


def test_a_resource_that_is_renamed_takes_its_exports_over_once_the_old_name_is_forgotten(estate):
    export = ("--export-to", "folder", "--export-folder", "../out")
    estate.says(group=GROUP, account=account(EXPORTS))
    assert estate.run("sync", *export).code == 0
    before = key_of(estate)
    renamed = account(EXPORTS).replace("metadata: {name: lake}", "metadata: {name: pond}")
    estate.says(group=GROUP, account=renamed.replace("spec:\n", "spec:\n  azureName: lake\n", 1))
    ended = estate.run("sync", *export)
    assert ended.code == 1
    told = "cannot overwrite Secret default/lake which is not owned by StorageAccount.storage.azure.com default/pond"
    assert told in ended.out
    assert "`--prune` removes exports of manifests that were removed from git" in ended.out
    ended = estate.run("sync", "--prune", *export)
    assert ended.code == 0, ended.out
    owner = json.loads(estate.files("out")["secrets/default/lake/.gitsync.json"])["owner"]
    assert owner == "StorageAccount.storage.azure.com/default/pond"
    assert key_of(estate) == before
    assert estate.azure.sent("DELETE") == []


def test_a_run_for_a_consumer_alone_gets_its_secret_and_writes_no_export(estate, tmp_path):
    export = ("--export-to", "folder", "--export-folder", "../out")
    estate.says(group=GROUP, account=account(EXPORTS), consumer=server("one", "lake", "first"))
    assert estate.run("sync", *export, "--only", "ResourceGroup/*").code == 0
    missing = estate.run("sync", *export, "--only", "FlexibleServer/one")
    assert missing.code == 1
    assert "references StorageAccount.storage.azure.com/default/lake, which is not ready" in missing.out
    assert estate.run("sync", "--only", "StorageAccount/lake").code == 0
    assert estate.run("sync", *export, "--only", "FlexibleServer/one").code == 0
    assert len(estate.password("one")) > 30
    assert [name for name in estate.files("out") if not name.startswith(".git")] == []


def test_describe_shows_where_a_resource_exports_to_and_no_value(estate):
    estate.says(group=GROUP, account=account(EXPORTS))
    assert estate.run("sync", "--export-to", "folder", "--export-folder", "../out").code == 0
    ended = estate.run("describe", "StorageAccount/lake")
    assert "Secret/lake" in ended.out
    assert key_of(estate) not in ended.out + ended.err


BOTH, SYNC = ("plan", "sync"), ("sync",)
LOCATIONS = [
    (BOTH, ("--secret-sources", "manifets"), "(did you mean manifests?)", "a misspelt word"),
    (BOTH, ("--secret-sources", ""), "--secret-sources: expected at least one name", "no source at all"),
    (BOTH, ("--export-to", "fodler"), "(did you mean folder?)", "a misspelt word"),
    (BOTH, ("--export-to", "folder"), "Set --export-folder.", "a sink without its folder"),
    (BOTH, ("--export-to", "sops"), "Set --export-sops-folder.", "a sink without its folder"),
    (BOTH, ("--export-to", "dotenv"), "Set --export-dotenv.", "a sink without its file"),
    (BOTH, ("--export-to", "key-vault"), "Set --key-vault", "a sink without its vault"),
    (BOTH, ("--secret-sources", "key-vault"), "Set --key-vault", "a source without its vault"),
    (BOTH, ("--key-vault", "ftp://x"), "--key-vault: expected an address", "no address of a vault"),
    (BOTH, ("--secret-sources", "folder"), "Set --secrets-folder or --config-maps-folder", "without its folder"),
    (BOTH, ("--secret-sources", "folder", "--secrets-folder", "absent"), "There is no folder /", "it is not there"),
    (SYNC, ("--secret-sources", "kubernetes"), "does not run in a Kubernetes pod", "a laptop"),
    (SYNC, ("--export-to", "kubernetes"), "remove the source and the sink `kubernetes`", "a laptop"),
    (SYNC, ("--export-to", "ci"), "--export-to dotenv", "no pipeline"),
]


@pytest.mark.parametrize(
    ("commands", "arguments", "words", "why"), LOCATIONS, ids=[" ".join(row[1]) for row in LOCATIONS]
)
def test_a_store_that_cannot_be_opened_refuses_the_run(estate, commands, arguments, words, why):
    estate.says(group=GROUP, account=account(EXPORTS))
    for command in commands:
        ended = estate.run(command, *arguments)
        assert (ended.code, ended.out) == (2, ""), why
        assert words in ended.err, why
    assert estate.azure.sent() == [], "Azure was not asked for anything"
    assert not (estate.outside / "state").exists()


def test_a_plan_needs_no_store_that_it_does_not_read(estate):
    """It may run on a laptop: neither in the cluster nor with the right to see a secret."""
    estate.says(group=GROUP, account=account(EXPORTS), server=server("one", "db"))
    ended = estate.run("plan", "--secret-sources", "key-vault,kubernetes", "--key-vault", "https://vault.example")
    assert ended.code == 0, ended.out
    assert "create   FlexibleServer/one" in ended.out
    assert account_id() not in ended.err
    assert server_id("one") not in ended.err
