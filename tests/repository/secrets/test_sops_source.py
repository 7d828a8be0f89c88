"""Encrypted manifests: decrypted when a value is needed, and what is reported where they cannot be."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest
import yaml

from gitsync.desired.manifests.reader import read_manifests
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.problem import Level
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.secrets.sops_program import Sops
from gitsync.repository.secrets.sources.declared_objects import EncryptedSource, ManifestSource
from tests.support.sops_rig import KINDS, put_on_path, rig

DB = Address(ObjectKind.SECRET, "default", "db")
SECRET = """# with a comment
apiVersion: v1
kind: Secret
metadata:
  name: db
stringData:
  password: hidden-one
data:
  user: aGlkZGVuLXR3bw==
"""
OTHER = SECRET.replace("name: db", "name: other").replace("hidden-one", "hidden-three")
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\ndata: {a: hidden-map}\n"


@pytest.fixture(params=KINDS)
def sops(request, tmp_path):
    return rig(request.param, tmp_path)


def source(files, program):
    manifests = read_manifests(files)
    return EncryptedSource(ManifestSource(manifests), manifests.objects.encrypted, program)


async def read(found, address, *keys):
    values = await found.read(address, keys)
    return values if values is None else {key: value.reveal() for key, value in values.items()}


async def test_a_value_of_an_encrypted_secret(sops):
    text = sops.encrypted(SECRET)
    assert b"hidden-one" not in text
    found = source({"a/db.yaml": text}, sops.sops())
    assert await read(found, DB, "password") == {"password": "hidden-one", "user": "hidden-two"}


async def test_a_file_of_several_documents_was_encrypted_as_a_whole(sops):
    found = source({"all.yaml": sops.encrypted(SECRET, MAP, OTHER)}, sops.sops())
    assert (await read(found, DB))["password"] == "hidden-one"
    assert (await read(found, Address(ObjectKind.SECRET, "default", "other")))["password"] == "hidden-three"
    assert await read(found, Address(ObjectKind.CONFIG_MAP, "default", "db")) == {"a": "hidden-map"}


async def test_secrets_that_were_encrypted_apart_may_stand_in_one_file(sops):
    text = sops.encrypted(SECRET) + b"---\n" + MAP.encode() + b"---\n" + sops.encrypted(OTHER)
    found = source({"all.yaml": text}, sops.sops())
    assert (await read(found, DB))["password"] == "hidden-one"
    assert (await read(found, Address(ObjectKind.SECRET, "default", "other")))["password"] == "hidden-three"
    assert await read(found, Address(ObjectKind.CONFIG_MAP, "default", "db")) == {"a": "hidden-map"}, "a plain one"


RENAMED = Address(ObjectKind.SECRET, "shop", "prod-db")
OTHER_RENAMED = Address(ObjectKind.SECRET, "shop", "prod-other")


def build(text, **more):
    """What kustomize makes of the Secrets in a file: other names, another order, and `more` values of a patch."""
    documents = list(yaml.safe_load_all(text))
    for document in documents:
        origin = {"config.kubernetes.io/origin": "path: ../source/base/db.yaml"}
        document["metadata"] = {
            "name": f"prod-{document['metadata']['name']}",
            "namespace": "shop",
            "annotations": origin,
        }
        document["stringData"] |= more
    return yaml.safe_dump_all(reversed(documents), sort_keys=True)


def read_build(text, built, program):
    unit = Unit(name="prod", path="prod", kind=UnitKind.KUSTOMIZATION, file="k.yaml", contents={"base/db.yaml": text})
    manifests = read_manifests({"k.yaml": built.encode()}, units={"k.yaml": unit})
    return manifests, EncryptedSource(ManifestSource(manifests), manifests.objects.encrypted, program)


async def test_a_secret_that_kustomize_renames_is_decrypted_from_its_file(sops):
    text = sops.encrypted(SECRET, OTHER)
    manifests, found = read_build(text, build(text), sops.sops())
    assert manifests.problems == ()
    assert await read(found, RENAMED) == {"password": "hidden-one", "user": "hidden-two"}
    assert await read(found, OTHER_RENAMED) == {"password": "hidden-three", "user": "hidden-two"}


async def test_values_that_a_patch_puts_into_an_encrypted_secret_are_told(sops):
    """Its file has other values, so what is decrypted from there would be wrong. No resource uses it: that is a note."""
    text = sops.encrypted(SECRET)
    manifests, found = read_build(text, build(text, extra="hidden-more"), sops.sops())
    (problem,) = manifests.problems
    assert (problem.code, problem.level, problem.path) == ("EncryptedManifest", Level.NOTE, "base/db.yaml")
    assert "cannot be decrypted" in await said(found, RENAMED)


async def test_what_is_not_encrypted_needs_no_program():
    found = source({"a.yaml": SECRET.encode()}, Sops(environment={"PATH": "/nowhere"}))
    assert (await read(found, DB))["password"] == "hidden-one"
    assert await read(found, Address(ObjectKind.SECRET, "default", "none")) is None


async def said(found, address=DB):
    with pytest.raises(SecretStoreError) as refused:
        await read(found, address)
    assert "hidden" not in str(refused.value)
    return str(refused.value)


async def test_without_the_key_the_first_line_of_the_complaint_is_told(sops):
    told = await said(source({"a/db.yaml": sops.encrypted(SECRET)}, sops.without_key()))
    assert told.startswith("a/db.yaml cannot be decrypted: sops reported “Failed to get the data key")
    assert "Set the key" in told


async def test_a_manifest_that_was_changed_by_hand(sops):
    text = sops.encrypted(SECRET).replace(b"name: db", b"name: dc")
    told = await said(source({"db.yaml": text}, sops.sops()), Address(ObjectKind.SECRET, "default", "dc"))
    assert "MAC mismatch. File has <secret>, computed <secret>" in told


async def test_a_member_sops_that_seals_nothing(sops):
    told = await said(source({"db.yaml": SECRET.encode() + b"sops: {}\n"}, sops.sops()))
    assert "db.yaml cannot be decrypted: sops reported “" in told


async def test_a_value_that_is_wrong_once_it_is_decrypted(sops):
    text = sops.encrypted(SECRET.replace("aGlkZGVuLXR3bw==", "hidden"))
    told = await said(source({"db.yaml": text}, sops.sops()))
    assert re.search(r"^db\.yaml:\d, once decrypted: The value of user under data is not base64\.", told)


async def test_without_the_program():
    text = f"{SECRET}sops: {{mac: x}}\n".encode()
    told = await said(source({"db.yaml": text}, Sops(environment={"PATH": "/nowhere"})))
    assert told.startswith("db.yaml is encrypted with SOPS, but sops is not installed. Install it from https://")


def scripted(tmp_path, script, **more):
    path = put_on_path(tmp_path / "bin", "sops", f"#!/bin/sh\n{script}\n")
    return Sops(environment={"PATH": path, "SOPS_LOG": str(tmp_path / "log")}, **more)


SEALED = f"{SECRET}sops: {{mac: x}}\n".encode()


async def test_an_older_program_has_flags_in_place_of_commands(tmp_path):
    script = f'[ "$1" = --decrypt ] || exit 1\ncat <<END\n{SECRET}END'
    assert (await read(source({"db.yaml": SEALED}, scripted(tmp_path, script)), DB))["password"] == "hidden-one"


async def test_a_text_is_decrypted_once_for_all_who_ask(tmp_path):
    program = scripted(tmp_path, f'echo ran >> "$SOPS_LOG"\ncat <<END\n{SECRET}---\n{OTHER}END')
    text = SEALED + b"---\n" + f"{OTHER}sops: {{mac: x}}\n".encode()
    found = source({"db.yaml": text}, program)
    other = Address(ObjectKind.SECRET, "default", "other")
    one, two, _ = await asyncio.gather(found.read(DB, ["password"]), found.read(other, []), found.read(DB, ["user"]))
    assert (one["password"].reveal(), two["password"].reveal()) == ("hidden-one", "hidden-three")
    assert (tmp_path / "log").read_text() == "ran\n"


@pytest.mark.parametrize(
    ("script", "expected", "why"),
    [
        ("exit 3", "sops reported nothing.", "no reason given"),
        ("echo 'cannot unmarshal `hidden` into' >&2; exit 1", "cannot unmarshal <secret> into", "a piece of the file"),
        ("echo 'bad AGE-SECRET-KEY-1HIDDEN0 here' >&2; exit 1", "bad <secret> here", "a key"),
        ("echo 'no ENC[AES256_GCM,data:hidden] here' >&2; exit 1", "no <secret> here", "a ciphertext"),
        (
            "echo 'Input string hidden one does not match the format' >&2; exit 1",
            "string <secret> does not",
            "a plain value",
        ),
        ("echo 'Input string hidden one' >&2; exit 1", "string <secret>”", "the first line of one"),
        ("printf '\\n a\\033[31mb\\007 \\n c\\n' >&2; exit 1", "“a [31mb”", "what moves a cursor"),
        ("echo 'kind: Nothing'", "does not decrypt to Secret default/db", "another document"),
        (f"cat <<END\n{OTHER}END", "does not decrypt to Secret default/db", "another Secret"),
    ],
)
async def test_what_is_told_of_a_program_that_fails(tmp_path, script, expected, why):
    assert expected in await said(source({"db.yaml": SEALED}, scripted(tmp_path, script))), why


async def test_a_program_that_hangs_is_ended_with_all_that_it_started(tmp_path):
    program = scripted(tmp_path, 'sleep 1000 & echo $! > "$SOPS_LOG"; wait', timeout=2)
    assert "sops did not end within 2 seconds." in await said(source({"db.yaml": SEALED}, program))
    started = Path("/proc", (tmp_path / "log").read_text().strip(), "stat")
    while started.exists() and started.read_text().split()[2] != "Z":  # a signal takes its time
        os.sched_yield()


async def test_a_program_that_cannot_be_started(tmp_path):
    path = put_on_path(tmp_path / "bin", "sops", "#!/nowhere/at/all\n")
    assert "cannot be started: No such file" in await said(
        source({"db.yaml": SEALED}, Sops(environment={"PATH": path}))
    )


@pytest.mark.parametrize(
    ("ours", "requested", "why"),
    [
        ({}, False, "the environment names none"),
        ({"VAULT_ADDR": "https://vault.example"}, False, "the environment names another"),
        ({"VAULT_ADDR": "https://evil.example"}, True, "it is ours"),
        ({"VAULT_ADDR": "https://evil.example/"}, True, "a slash at the end is no other address"),
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        f"{SECRET}sops: {{hc_vault: [{{vault_address: https://evil.example}}]}}\n",
        f"{SECRET}sops: {{key_groups: [{{hc_vault: [{{vault_address: https://evil.example}}]}}]}}\n",
        f"a: 1\nsops: {{hc_vault: [{{vault_address: https://evil.example}}]}}\n--- !!map\n{SECRET}sops: {{mac: x}}\n",
    ],
)
async def test_a_manifest_does_not_choose_who_gets_the_token_of_a_vault(tmp_path, text, ours, requested, why):
    program = scripted(tmp_path, f"cat <<END\n{SECRET}END")
    program = Sops(environment={**program.environment, **ours})
    found = source({"db.yaml": text.encode()}, program)
    if requested:
        assert (await read(found, DB))["password"] == "hidden-one", why
    else:
        assert re.search("for the HashiCorp Vault at 'https://evil.example'.* Set VAULT_ADDR", await said(found)), why


@pytest.mark.parametrize(
    ("seal", "expected", "why"),
    [
        (
            {"hc_vault": [{"Vault_Address": "https://evil.example"}]},
            "HashiCorp Vault",
            "Go's JSON reads it in capitals",
        ),
        ({"hc_vault": [{"vault_addre\u017f\u017f": "https://evil.example"}]}, "HashiCorp Vault", "and with a long s"),
        ({"azure_kv": [{"vault_url": "https://evil.example"}]}, "not an Azure host", "another host"),
        ({"azure_kv": [{"VAULT_URL": "https://evil.example"}]}, "not an Azure host", "in capitals"),
        ({"azure_kv": [{"vault_url": "http://a.vault.azure.net"}]}, "not an Azure host", "tokens go by https"),
        ({"azure_kv": [{"vault_url": "https://evil.example/.vault.azure.net"}]}, "not an Azure host", "a path"),
        ({"azure_kv": [{"vault_url": "https://a@evil.example#.vault.azure.net"}]}, "not an Azure host", "a user"),
        (
            {"azure_kv": [{"vault_url": "https://a.vault.azure.net.evil.example"}]},
            "not an Azure host",
            "a longer host",
        ),
    ],
)
async def test_a_manifest_does_not_choose_whom_sops_asks(tmp_path, seal, expected, why):
    program = scripted(tmp_path, 'echo ran > "$SOPS_LOG"; echo {}')
    text = json.dumps({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "sops": seal})
    assert expected in await said(source({"db.json": text.encode()}, program)), why
    assert not (tmp_path / "log").exists(), why


@pytest.mark.parametrize(
    "url", ["https://a.vault.azure.net", "https://A-1.vault.azure.cn/", "https://h.managedhsm.azure.net"]
)
async def test_a_key_vault_of_azure_may_be_asked(tmp_path, url):
    text = f"{SECRET}sops: {{azure_kv: [{{vault_url: {url}}}]}}\n"
    assert await read(source({"db.yaml": text.encode()}, scripted(tmp_path, f"cat <<END\n{SECRET}END")), DB)


async def test_what_names_a_key_twice_is_not_handed_to_sops(tmp_path):
    """Of two, this reader and that of sops need not take the same one."""
    program = scripted(tmp_path, 'echo ran > "$SOPS_LOG"; echo {}')
    vaults = '"hc_vault": [{"vault_address": "https://evil.example"}], "hc_vault": [{}]'
    text = f'{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "db"}}, "sops": {{{vaults}}}}}'
    assert "The key 'hc_vault' is duplicated in one mapping" in await said(source({"db.json": text.encode()}, program))
    assert not (tmp_path / "log").exists()


async def test_the_token_of_a_vault_is_not_handed_out_where_none_is_named(tmp_path):
    program = scripted(
        tmp_path, f'[ -z "$VAULT_TOKEN" ] || exit 1\n[ "$AWS_REGION" = 1 ] || exit 1\ncat <<END\n{SECRET}END'
    )
    program = Sops(environment={**program.environment, "VAULT_TOKEN": "hidden", "AWS_REGION": "1"})
    assert (await read(source({"db.yaml": SEALED}, program), DB))["password"] == "hidden-one"
