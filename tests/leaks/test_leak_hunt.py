"""The leak hunt: the real command, every source and sink, at the most verbose level, with faults that raise in every
stage.

Then everything that was written is searched for every secret value, in every spelling, and for parts of them: they are
in the sinks and in what was sent to Azure, and in no other file.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.keys import make_key
from tests.leaks.hunting import Hunt, files, objects, spellings
from tests.leaks.leak_estate import (
    ACCOUNT,
    ACCOUNT_ID,
    CREDENTIAL,
    INPUTS,
    KNOWN_EARLY,
    SETTINGS,
    SINKS,
    Estate,
    faults,
    make,
    said,
)
from tests.support import private_ca
from tests.support.command_line import SUBSCRIPTION, Azure, Ended, azure, in_background
from tests.support.fake_key_vault import FakeKeyVault, Fault
from tests.support.secret_estate import GROUP

GIVEN = {**INPUTS, **{name.lower(): value for name, value in SETTINGS.items()}, "credential": CREDENTIAL}
SERVERS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core/providers/Microsoft.DBforPostgreSQL/flexibleServers"
MASKS = "::add-mask::"


@dataclass
class Told:
    """What a row of commands wrote."""

    estate: Estate
    ended: dict[str, Ended] = field(default_factory=dict)
    exported: dict[str, str] = field(default_factory=dict)
    sent: str = ""
    vault: dict[str, str] = field(default_factory=dict)

    def run(self, *words: str, **variables: str) -> Ended:
        ended = self.estate.run(*words, **variables)
        self.ended[" ".join(words)] = ended
        return ended

    def look(self, *words: str) -> None:
        """Run a command in this process."""
        self.ended[" ".join(words)] = self.estate.run_here(*words)

    @property
    def streams(self) -> dict[str, str]:
        """Every stream, without the lines by which a pipeline's host learns what to mask."""
        both = {
            f"{words}: {name}": getattr(ended, name) for words, ended in self.ended.items() for name in ("out", "err")
        }
        return {name: "\n".join(x for x in text.splitlines() if not x.startswith(MASKS)) for name, text in both.items()}

    @property
    def texts(self) -> dict[str, str]:
        """Every file that is not a sink, nor what was there before."""
        root, estate = self.estate.root, self.estate
        given = (estate.repository, root / "site", root / "bin", root / "mounted", root / "server.pem", root / "ca.pem")
        return files(root, but=(*estate.sinks, *given))


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Plan, have it reviewed, sync, look, drift, plan again, in all forms."""
    root = tmp_path_factory.mktemp("estate")
    ca, told = private_ca.make(root), Told(make(root))
    where = ("--status-dir", str(root / "status"))
    plan = str(root / "plan.json")
    with azure(operations=Timing(polls=0), rules=faults()) as served, in_background(FakeKeyVault(ca.tls)) as vault:
        vault.make("default--vault--password", INPUTS["vault"])
        told.estate.environment |= served.variables
        told.estate.environment |= {"GITSYNC_CA_BUNDLE": str(ca.bundle), "GITSYNC_KEY_VAULT": vault.url}
        told.run("plan", "--out", plan, *where, "--log-format", "text", "--output", "json")
        told.run(
            "sync", "--plan", plan, *where, "--output", "json", "--log-format", "text", "--resource-timeout", "20s"
        )
        reports = ("--report", str(root / "report"), "--metrics", str(root / "metrics.prom"))
        told.run("sync", *where, *reports, "--export-to", SINKS, "--log-format", "json", "--resource-timeout", "20s")
        _drift(served)
        told.run("plan", *where, "--report", str(root / "drift"), "--log-format", "text")
        for form in ("html", "markdown", "junit", "sarif", "json"):
            told.look("plan", *where, "--only", "FlexibleServer/*", "--output", form)
        for words in (("status",), ("status", "--output", "json"), ("describe", "FlexibleServer/variable")):
            told.look(*words, *where)
        for words in (("validate",), ("render",), ("render", "--output", "json"), ("graph",)):
            told.look(*words)
        told.sent = json.dumps([request.body for request in served.emulator.requests if request.body])
        told.vault = vault.values
    lake = root / "exported" / "secrets" / "default"
    told.exported = {
        path.name: path.read_text() for path in lake.rglob("*") if path.name in {"first", "second", "both"}
    }
    return told


def _drift(served: Azure) -> None:
    """Somebody writes secrets where they show: values that git has in plain text. A plan does not read the rest."""
    known = said(*(value for name, value in INPUTS.items() if name != "vault"))
    served.emulator.change(ACCOUNT_ID, "/kind", known)
    served.emulator.change(f"{SERVERS}/vault", "/properties/administratorLogin", known)


def test_every_stage_broke_off_and_said_what_it_must_not(told):
    """Without this the hunt would be one for nothing."""
    synced = next(ended for words, ended in told.ended.items() if "--export-to" in words)
    assert synced.code == 70, "one of them is taken for a fault of gitsync's own"
    report = json.loads((told.estate.root / "report" / "report.json").read_text())
    first = json.loads(next(ended.out for words, ended in told.ended.items() if words.startswith("sync --plan")))
    messages = defaultdict(str)
    for resource in (*report["resources"], *first["resources"]):
        messages[resource["name"]] += resource["message"]
    for name in (
        "sealed",
        "mounted",
        "variable",
        "pem",
        "virtualnetwork",
        "networksecuritygroup",
        "routetable",
        "publicipaddress",
    ):
        assert "<secret>" in messages[name], name
    assert {"vault", "lake", "consumer", "plain"} <= {r["name"] for r in report["resources"] if r["ready"] == "True"}
    assert "failed: RuntimeError" in messages["applicationsecuritygroup"]
    assert "ValueError" in messages["cluster"]
    assert any("<secret>" in attempt["message"] for r in report["resources"] for attempt in r["attempts"])
    for form in ("It said <secret>", "said=<secret>", "KeyError: '<secret>"):
        assert form in "".join(told.streams.values()), "logs of both forms, their fields and their traces"
    for location in ("in __del__", "in thread"):
        assert location in synced.err, "what breaks off where nobody catches it"
    drifted = json.loads((told.estate.root / "drift" / "report.json").read_text())
    lives = [str(d["live"]) for r in drifted["resources"] for d in r["differences"]]
    assert any("<secret>" in live for live in lives), "what Azure has shows in differences"


def test_secrets_are_in_the_sinks_and_in_what_azure_was_sent(told):
    """The same search finds them where they belong."""
    assert set(told.exported) == {"first", "second", "both"}
    hunt = Hunt(**told.exported)
    root = told.estate.root
    for sink in (root / "exported", root):
        texts = files(sink) if sink != root else {name: (root / name).read_text() for name in ("dotenv", "ci-output")}
        assert set().union(*map(hunt.found, texts.values())) == set(told.exported), sink
    assert hunt.found(json.dumps(told.vault)) == set(told.exported)
    assert list((root / "sops").rglob("lake.yaml"))
    assert Hunt(**INPUTS).found(told.sent) == set(INPUTS)
    assert hunt.found(told.sent) == {"first", "both"}, "what consumes an export gets it"


def test_secrets_are_in_no_other_file(told):
    hunt = Hunt(**GIVEN, **told.exported)
    assert len(told.streams) > 20
    for name in (
        "report.html",
        "report.json",
        "report.md",
        "report.junit.xml",
        "report.sarif",
        "SUMMARY.md",
        "plan.json",
    ):
        assert any(path.endswith(f"/{name}") for path in told.texts), name
    assert any(path.endswith("step-summary.md") for path in told.texts)
    assert hunt.everywhere(told.texts) == {}
    assert hunt.everywhere(told.streams) == {}


def test_only_exports_are_reported_to_a_pipelines_host(told):
    lines = [x for ended in told.ended.values() for x in (ended.out + ended.err).splitlines() if x.startswith(MASKS)]
    assert {line.removeprefix(MASKS) for line in lines} == set(told.exported.values())


def test_the_status_shows_exported_config_maps_and_names_their_owner(told):
    """What is meant to be seen is not masked with the rest."""
    found = [text for path, text in told.texts.items() if "/status/" in path and '"kind": "ConfigMap"' in text]
    assert ["https://lake.blob" in text for text in found] == [True]


HOOK = """\
#!/bin/sh
while read old new ref; do
  case "$(git log -1 --format=%s "$new")" in Record*) exit 0;; esac
done
printf '%s\\n' "$SAID" >&2
exit 1
"""


def test_a_branch_that_cannot_be_pushed_reveals_no_secret_and_holds_none(tmp_path):
    """The git host repeats what it has when it refuses, and the run has been written to Azure by then."""
    told = Told(make(tmp_path))
    bare, repository = tmp_path / "bare", told.estate.repository
    for words in (
        ("init", "-q", "--bare", "-b", "main", str(bare)),
        ("init", "-q", "-b", "main", str(repository)),
        ("-C", str(repository), "add", "-A"),
        ("-C", str(repository), "-c", "user.name=me", "-c", "user.email=me@x", "commit", "-q", "-m", "All"),
        ("-C", str(repository), "push", "-q", str(bare), "main"),
    ):
        subprocess.run(["git", *words], check=True, capture_output=True)
    hook = bare / "hooks" / "pre-receive"
    hook.write_text(HOOK)
    hook.chmod(0o755)
    with azure(operations=Timing(polls=0), rules=faults()) as served:
        told.estate.environment |= served.variables | {"GITSYNC_SECRET_SOURCES": "manifests,folder,environment"}
        words = ("sync", f"file://{bare}", "--resource-timeout", "20s", "--log-format", "text")
        refused = told.run(*words)
        assert "StatusNotWritten" in refused.out or "pre-receive" in refused.out
        assert "<secret>" in refused.out
        hook.unlink()
        told.run(*words, "--report", str(tmp_path / "report"))
    hunt = Hunt(**GIVEN)
    held = objects(bare, "gitsync/status")
    assert any('"kind": "FlexibleServer"' in text and "<secret>" in text for text in held.values())
    assert hunt.everywhere(held) == {}
    assert hunt.everywhere(told.streams) == {}
    assert hunt.everywhere(files(tmp_path / "report")) == {}


REPEATING_SOPS = """\
#!/bin/sh
text=$(cat)
case "$text" in *first*) printf '%s\\n' "$text" >&2; exit 1;; esac
printf '%s' "$text" | PATH="$SOPS_REAL_PATH" sops "$@"
"""


@pytest.mark.parametrize("sink", ["sops", "key-vault"])
def test_a_sink_that_repeats_what_it_is_given_as_it_fails(tmp_path, sink):
    told = Told(make(tmp_path))
    ca, estate = private_ca.make(tmp_path), told.estate
    for old in estate.repository.glob("*.yaml"):
        old.unlink()
    (estate.repository / "all.yaml").write_text(f"{GROUP}---\n{ACCOUNT}")
    repeating = tmp_path / "repeating"
    repeating.mkdir()
    (repeating / "sops").write_text(REPEATING_SOPS)
    (repeating / "sops").chmod(0o755)
    with azure(operations=Timing(polls=0)) as served, in_background(FakeKeyVault(ca.tls)) as vault:
        value = make_key(ACCOUNT_ID, "key1")
        vault.fail("PUT", "/secrets/default--lake--first", *[Fault(403, "Forbidden", message=said(value))] * 9)
        estate.environment |= served.variables | {
            "GITSYNC_CA_BUNDLE": str(ca.bundle),
            "GITSYNC_KEY_VAULT": vault.url,
            "GITSYNC_SECRET_SOURCES": "manifests",
            "SOPS_REAL_PATH": estate.environment["PATH"],
            "PATH": f"{repeating}:{estate.environment['PATH']}",
        }
        words = ("--report", str(tmp_path / "report"), "--log-format", "text", "--resource-timeout", "20s")
        ended = told.run("sync", "--export-to", sink, *words)
        assert served.sent("POST"), "the keys were asked for"
        assert ended.code == 1
        assert "StorageAccount/lake" in ended.out
    hunt = Hunt(key1=value, key2=make_key(ACCOUNT_ID, "key2"))
    assert hunt.everywhere(told.streams) == {}
    assert hunt.everywhere(files(tmp_path / "report")) == {}


@pytest.mark.parametrize("value", [*GIVEN.values(), "md1WzNczetmJSbCfyJEq5E1FWR2rm4SEJkqff501Q9k="])
def test_the_hunt_finds_what_it_looks_for(value):
    hunt = Hunt(it=value)
    for name, text in spellings(value).items():
        assert hunt.found(f"before {text} after") == {"it"}, name
    assert hunt.found(value[: len(value) // 2]) == {"it"}, "half of it"
    assert hunt.found(base64.b64encode(f"xy{value}z".encode()).decode()) == {"it"}
    assert hunt.found("nothing <secret> of it, nor -----BEGIN PRIVATE KEY-----") == set()


def test_what_is_reported_early_is_known_early():
    assert set(KNOWN_EARLY) <= set(GIVEN.values())
