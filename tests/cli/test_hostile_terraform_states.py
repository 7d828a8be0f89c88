"""States that somebody has prepared: nothing in them is more than text, and no value of theirs gets out."""

import json

import pytest

from gitsync.workflows.imports.terraform.state import MAX_BYTES, MOST_BRACKETS
from tests.support.command_line import azure, run_here
from tests.support.filled_store import ROOT, fill
from tests.support.hostile_texts import HOSTILE
from tests.support.terraform_states import resource, shown, state

SECRET = "correct-horse-battery"
GROUP = f"{ROOT}/shop"
VAULT = f"{GROUP}/providers/Microsoft.KeyVault/vaults"
SOUND = resource("azurerm_resource_group", "shop", GROUP)


@pytest.fixture(scope="module")
def served():
    with azure(fill({GROUP: {"location": "westeurope"}})) as served:
        yield served


def take(served, folder, content, *arguments):
    (folder / "s.tfstate").write_bytes(content)
    done = run_here(
        "import", "--from-terraform", "s.tfstate", "--out", "out", *arguments, folder=folder, **served.variables
    )
    written = {
        path.name: path.read_text() for path in folder.rglob("*") if path.is_file() and path.suffix != ".tfstate"
    }
    return done, written


LOCATIONS = {
    "a name in an id": lambda name, text: resource("azurerm_key_vault", name, f"{VAULT}/{text}"),
    "a subscription": lambda name, text: resource("azurerm_key_vault", name, f"/subscriptions/{text}/resourceGroups/g"),
    "a type in an id": lambda name, text: resource(
        "azurerm_key_vault", name, f"{GROUP}/providers/Contoso.Odd/{text}/a"
    ),
    "a name of a setting": lambda name, text: resource("azurerm_monitor_diagnostic_setting", name, f"{GROUP}|{text}"),
    "a part of what has no manifest": lambda name, text: resource(
        "azurerm_key_vault_access_policy", name, f"{VAULT}/{text}/objectId/x"
    ),
    "a key": lambda name, text: resource("azurerm_resource_group", name, (text, GROUP), ("other", f"{GROUP}-gone")),
    "an unread attribute": lambda name, text: resource(
        "azurerm_key_vault", name, {"id": f"{VAULT}/v", "tags": {"a": text}}
    ),
    "a provider": lambda name, text: {**resource("azurerm_resource_group", name, GROUP), "provider": text},
}


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("location", LOCATIONS)
def test_a_hostile_text_commands_nothing(served, tmp_path, location, form):
    texts = [text for what, text in HOSTILE.items() if what != "a surrogate"]
    content = state(SOUND, *(LOCATIONS[location](f"name{number}", text) for number, text in enumerate(texts)))
    done, written = take(served, tmp_path, content, "--removed", "removed.tf", "--output", form)
    assert done.code in {0, 1}, done.err
    for name, text in {"stdout": done.out, "stderr": done.err, **written}.items():
        assert all(letter.isprintable() or letter == "\n" for letter in text), (name, text)
        assert not any(line.lstrip().startswith(("::", "##")) for line in text.splitlines()), (name, text)
    if form == "json":
        rows = json.loads(done.out)["outcomes"]
        assert rows[0]["outcome"] == "taken", "a sound resource is taken beside them"
        assert len(rows) > len(texts), "none is left out"


def test_half_of_a_surrogate_pair_is_refused(served, tmp_path):
    content = state(SOUND, resource("azurerm_key_vault", "v", f"{VAULT}/rob")).replace(b"/rob", b"/rob\\ud800")
    done, _ = take(served, tmp_path, content)
    assert (done.code, "is not valid JSON" in done.err) == (2, True)


def put_everywhere(secret):
    entry = resource(
        "azurerm_postgresql_flexible_server",
        "orders",
        {
            "id": f"{GROUP}/providers/Microsoft.DBforPostgreSQL/flexibleServers/gone",
            "administrator_password": secret,
            "not_marked": secret,
            secret: secret,
            "nested": [{"deep": {"value": secret}}],
        },
    )
    entry["instances"][0] |= {
        "sensitive_attributes": [[{"type": "get_attr", "value": secret}]],
        "private": secret,
        "dependencies": [secret],
        "identity": {"id": secret},
        "create_before_destroy": secret,
    }
    return entry


SECRETS = [
    (put_everywhere, "attributes, marked and not, and what is beside them"),
    (lambda secret: resource("random_password", "p", {"id": secret, "result": secret}), "an id that is the value"),
    (lambda secret: resource("random_string", "p", {"id": f"/{secret}", "result": f"/{secret}"}), "one that begins as an ARM id"),
    (lambda secret: resource("azurerm_later_thing", "p", {"id": f"/{secret}"}), "the same of azurerm"),
    (lambda secret: resource("azurerm_key_vault_secret", "p", {"id": f"/subscriptions/{secret}", "value": secret}), "data of a vault"),
    (lambda secret: resource("azurerm_storage_container", "c", {"id": "x", "resource_manager_id": f"/{secret}"}), "the other id"),
    (lambda secret: resource("tls_private_key", "k", {"id": secret, "private_key_pem": f"-----BEGIN\n{secret}"}), "a key"),
    (lambda secret: resource("external", "e", {"id": secret}, mode="data"), "a data source"),
]  # fmt: skip


@pytest.mark.parametrize("make", [state, shown], ids=["a state file", "show -json"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_no_secret_gets_out(served, tmp_path, form, make):
    """Each row has a secret of its own, so that what gets out names its row."""
    document = json.loads(make(SOUND, *(place(f"{SECRET}-{number}.") for number, (place, _) in enumerate(SECRETS))))
    document["outputs"] = {"p": {"value": SECRET, "sensitive": True}}
    document["check_results"] = [{"object_kind": "output", "objects": [{"failure_messages": [SECRET]}]}]
    arguments = ("--removed", "removed.tf", "--output", form, "--log-level=debug")
    done, written = take(served, tmp_path, json.dumps(document).encode(), *arguments)
    assert done.code in {0, 1}, done.err
    shown_texts = "".join([done.out, done.err, *written.values()])
    assert [why for number, (_, why) in enumerate(SECRETS) if f"{SECRET}-{number}." in shown_texts] == []
    assert SECRET not in shown_texts


IDS_ONLY = "jq '.resources[].instances[].attributes |= {id, resource_manager_id}'"
REFUSED = [
    (b"{" + b" " * MAX_BYTES, ["has more than 64 MB", IDS_ONLY], "more bytes than any state"),
    (b'{"version": 4, "x": [' + b"[]," * MOST_BRACKETS + b"[]]}", ["objects and lists", IDS_ONLY], "more values"),
    (b'{"version": 4, "x": ' + b"[" * 400 + b"]" * 400 + b"}", ["is not valid JSON", "state pull"], "too deep"),
    (b'{"version": 4, "resources": [], "resources": []}', ["is not valid JSON"], "a name twice hides resources"),
    (b'{"version": 3, "modules": []}', ["not a Terraform state of version 4", "since 0.12"], "before 0.12"),
    (b'{"version": 5, "resources": []}', ["not a Terraform state of version 4"], "a form that does not exist yet"),
    (b'{"version": "4", "resources": []}', ["not a Terraform state of version 4"], "a number as a text"),
    (b'{"format_version": "2.1", "values": {}}', ["format_version"], "a later form of show -json"),
    (b'{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": []}', ["no managed resource"],
     "a new state"),
    (b'{"serial": 1, "lineage": "l", "meta": {}, "encrypted_data": "eA==", "encryption_version": "v0"}',
     ["is encrypted by OpenTofu", "tofu state pull"], "an encrypted state"),
    (b'resource "azurerm_resource_group" "shop" {}', ["is not valid JSON", "terraform state pull"], "the code, no state"),
    (b"PK\x03\x04\x00\xff", ["is not valid JSON"], "a plan file, which is an archive"),
    (b"\xff\xfe{\x00}\x00{", ["is not valid JSON"], "half of a letter of UTF-16"),
    (b"", ["is not valid JSON"], "an empty file"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "messages", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(served, tmp_path, content, messages, why):
    done, written = take(served, tmp_path, content)
    assert done.code == 2, why
    assert [message for message in messages if message not in done.err] == [], done.err
    assert written == {}


def test_a_folder_is_refused(served, tmp_path):
    (tmp_path / "s.tfstate").mkdir()
    done = run_here("import", "--from-terraform", "s.tfstate", "--out", "out", folder=tmp_path, **served.variables)
    assert done.code == 2
    assert "s.tfstate cannot be read: Is a directory" in done.err
