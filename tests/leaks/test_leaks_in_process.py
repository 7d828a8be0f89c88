"""What the Python API hands back, and what objects show of themselves: no secret, however they are looked at."""

from __future__ import annotations

import base64
import io
import json
import pickle
import sys
import traceback
from pathlib import Path

import pytest

from gitsync import api
from gitsync.cli.main import run as command
from gitsync.emulator.types.keys import make_key
from gitsync.errors import ConfigError, GitsyncError
from gitsync.extensions.api import Extension
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.secret import MASKED, Secret
from gitsync.report import json as json_report
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from gitsync.repository.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from gitsync.settings.logging import set_up
from tests.leaks.hunting import Hunt, files
from tests.leaks.leak_estate import ACCOUNT, ACCOUNT_ID, SERVER, said
from tests.support import private_ca
from tests.support.command_line import in_background
from tests.support.fake_clock import FakeClock
from tests.support.fake_key_vault import Fault
from tests.support.fake_kubernetes import FakeKubernetes
from tests.support.fault_rules import rules
from tests.support.secret_estate import GROUP
from tests.support.world import World, of

PASSWORD = "Passw0rd\"of/the+server&'more"
OTHER = "An0ther\"of/the+cluster&'more"
SECRET = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: books}}\nstringData: {json.dumps({'password': PASSWORD})}\n"
SERVERS = ("dbforpostgresql.azure.com", "FlexibleServer")
ECHOED = "Passw0rd-of-the-server-and-more"
HUNT = Hunt(password=PASSWORD)


def broken(point: str, raising) -> Extension:
    async def check(subject, azure, next=None):
        return raising()

    return Extension(group=SERVERS[0], kind=SERVERS[1], **{point: check})


@pytest.fixture
def world(tmp_path):
    return World(tmp_path).says(group=GROUP, secret=SECRET, server=SERVER.replace("NAME", "books"))


def raise_in_a_chain():
    """As what is deep inside fails, and each that catches it adds what it was about."""
    try:
        try:
            Path(PASSWORD).read_bytes()
        except OSError as error:
            raise UnicodeDecodeError("utf-8", PASSWORD.encode(), 0, 1, PASSWORD) from error
    except UnicodeDecodeError:
        fault = KeyError(PASSWORD, {"members": [PASSWORD]})
        fault.add_note(f"It was {PASSWORD}")
        fault.body = {"sent": [PASSWORD]}
        raise ExceptionGroup(f"Two: {PASSWORD}", [fault, ConfigError(PASSWORD, hint=PASSWORD)]) from None


def chain(error: BaseException) -> list[BaseException]:
    """An exception and all that it leads to."""
    members = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    others = [member for member in (error.__cause__, error.__context__, *members) if member]
    return [error, *(inner for related in others for inner in chain(related))]


@pytest.mark.parametrize("point", ["pre_check", "post_check", "succeeded"])
def test_a_fault_that_a_report_hands_back_reveals_no_secret(world, point):
    world.extensions = (broken(point, raise_in_a_chain), *BUILT_IN)
    fault = of(world.sync(), "FlexibleServer").ending.fault
    assert len(chain(fault)) >= 4
    for error in chain(fault):
        assert HUNT.found(f"{error} {error!r} {error.args} {vars(error)}") == set(), type(error)
    assert HUNT.found("".join(traceback.format_exception(fault))) == set()
    assert MASKED in str(fault), "something was there to be masked"


def test_no_object_of_a_run_shows_a_secret(world):
    """Whatever is in a frame of gitsync's while a stage runs: edges, run, turn, node, request, values, settings."""
    shown: dict[str, str] = {}

    def look():
        frame = sys._getframe()
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith("gitsync"):
                for name, value in frame.f_locals.items():
                    shown[f"{frame.f_code.co_qualname}.{name}: {type(value).__name__}"] = f"{value!r} {value}"
            frame = frame.f_back
        raise GitsyncError("Looked at.")

    world.extensions = (broken("post_check", look), *BUILT_IN)
    world.sync(client_secret=Secret(PASSWORD), git_token=Secret(PASSWORD))
    types = {name.rpartition(": ")[2] for name in shown}
    assert {"ApplyAttempt", "RunContext", "Apply", "Subject", "Registry"} <= types
    assert any("administratorLoginPassword" in text and MASKED in text for text in shown.values()), (
        "the request as sent"
    )
    assert {name: found for name, text in shown.items() if (found := HUNT.found(text))} == {}


def test_the_report_and_its_status_show_none(world):
    world.sync()
    world.outside("DELETE", "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core")
    world.extensions = (broken("pre_check", lambda: raise_with(said(PASSWORD))), *BUILT_IN)
    report = world.sync()
    assert MASKED in of(report, "FlexibleServer").condition.message
    assert HUNT.found(repr(report)) == set()
    assert HUNT.everywhere(files(world.state)) == {}


def raise_with(text: str):
    raise GitsyncError(text)


def test_an_echo_in_the_request_id_is_masked_everywhere(tmp_path):
    """A proxy that repeats what it was sent in a header: the id reaches the report, the status and the log."""
    echo = f"{{x-ms-request-id: {json.dumps(json.dumps(ECHOED))}}}"
    fault = rules(
        f"{{match: {{method: PUT, path: '*/flexibleservers/books'}}, answer: {{code: Odd, status: 400, headers: {echo}}}}}"
    )
    secret = SECRET.replace(json.dumps(PASSWORD), json.dumps(ECHOED))
    world = World(tmp_path, rules=fault).says(group=GROUP, secret=secret, server=SERVER.replace("NAME", "books"))
    stream, hunt = io.StringIO(), Hunt(password=ECHOED)
    set_up(level="debug", form="json", colour=False, mask=world.redactions.mask, stream=lambda: stream)
    report = world.sync()
    result = of(report, "FlexibleServer")
    assert MASKED in result.condition.request_id
    assert MASKED in result.attempts[0].request_id
    assert MASKED in result.record.condition.request_id
    forms = {"text": text, "markdown": markdown, "html": page, "json": json_report, "junit": junit, "sarif": sarif}
    shown = {name: form.render(report) for name, form in forms.items()}
    assert hunt.everywhere(shown | files(world.state) | {"repr": repr(report), "log": stream.getvalue()}) == {}
    assert MASKED in stream.getvalue()


def test_a_value_that_a_server_cuts_without_a_sign_is_masked_everywhere(tmp_path):
    cut = ECHOED[:14]
    message = f"The password {cut} is too weak."
    fault = rules(
        f"{{match: {{method: PUT, path: '*/flexibleservers/books'}}, answer: {{code: Odd, status: 400, message: '{message}'}}}}"
    )
    secret = SECRET.replace(json.dumps(PASSWORD), json.dumps(ECHOED))
    world = World(tmp_path, rules=fault).says(group=GROUP, secret=secret, server=SERVER.replace("NAME", "books"))
    stream = io.StringIO()
    set_up(level="debug", form="json", colour=False, mask=world.redactions.mask, stream=lambda: stream)
    report = world.sync()
    result = of(report, "FlexibleServer")
    assert "The password <secret> is too weak." in result.condition.message
    everywhere = {"text": text.render(report), "html": page.render(report), "log": stream.getvalue()}
    assert [name for name, shown in (everywhere | files(world.state)).items() if cut in shown] == []


def test_what_is_masked_does_not_look_like_news(world):
    """A record has the masked message; the next run reports the same, and nothing is written for it."""
    world.extensions = (broken("pre_check", lambda: raise_with(f"It said {PASSWORD}.")), *BUILT_IN)
    first = of(world.sync(), "FlexibleServer").record
    assert of(world.sync(), "FlexibleServer").record == first
    assert first.condition.message == f"It said {MASKED}."


def test_what_the_api_raises_reveals_no_secret(tmp_path):
    folder = tmp_path / "x"
    folder.mkdir()
    token = "no-such-t0ken-marked"
    with pytest.raises(GitsyncError) as refused:
        api.sync(source=str(folder / token), git_token=Secret(token))
    assert MASKED in refused.value.message
    for error in chain(refused.value):
        assert Hunt(it=token).found(f"{error!r} {error} {vars(error)}") == set()
    assert Hunt(it=token).found("".join(traceback.format_exception(refused.value))) == set()


@pytest.mark.parametrize("make", [lambda s: s, lambda s: Config(git_token=s), lambda s: {"deep": [s]}])
def test_secrets_are_not_pickled(make):
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(make(Secret(PASSWORD)))
    assert HUNT.found(repr(make(Secret(PASSWORD)))) == set()


class Cluster:
    """The cluster as a source and a sink, opened again for each check."""

    name = "kubernetes"
    is_remote = True

    def __init__(self, fake: FakeKubernetes) -> None:
        self._fake = fake

    async def check(self):
        await self._query("check")

    async def read(self, address, keys):
        return await self._query("read", address, keys)

    async def owner(self, address):
        return await self._query("owner", address)

    async def write(self, export):
        await self._query("write", export)

    async def remove(self, address, owner):
        await self._query("remove", address, owner)

    async def _query(self, what, *arguments):
        async with open_kubernetes(self._fake.environment, FakeClock(), self._fake.folder) as cluster:
            return await getattr(cluster, what)(*arguments)


def test_the_cluster_as_source_and_sink_repeats_what_it_is_given(tmp_path):
    """Read from there, exported there; then a write is refused with all that was in it."""
    (tmp_path / "world").mkdir()
    world = World(tmp_path / "world").says(group=GROUP, server=SERVER.replace("NAME", "books"), lake=ACCOUNT)
    values = {"first": make_key(ACCOUNT_ID, "key1"), "second": make_key(ACCOUNT_ID, "key2"), "input": OTHER}
    hunt = Hunt(**values)
    with in_background(FakeKubernetes(private_ca.make(tmp_path), tmp_path / "account")) as cluster:
        cluster.make("secrets", "default", "books", {"password": OTHER})
        location = Cluster(cluster)
        world.secret_stores = SecretStores(
            order=("manifests", "kubernetes"), sources={"kubernetes": location}, sinks=(location,)
        )
        body = base64.b64encode(values["first"].encode()).decode()
        fault = Fault(422, "Invalid", message=f"{said(*values.values())} {body}")
        cluster.fail("POST /api/v1/namespaces/default/secrets", fault)
        refused = world.sync()
        assert MASKED in of(refused, "StorageAccount").condition.message
        assert hunt.found(repr(refused)) == set()
        assert hunt.everywhere(files(world.state)) == {}
        report = world.sync()
        assert of(report, "StorageAccount").condition.is_ready
        assert of(report, "FlexibleServer").condition.is_ready
        assert cluster.data("secrets", "default", "lake") == {"first": values["first"], "second": values["second"]}
    assert hunt.found(repr(report)) == set()
    assert hunt.everywhere(files(world.state)) == {}


WORDY = """\
apiVersion: v1
kind: Secret
metadata: {name: words}
stringData:
  a: westeurope
  b: resourceGroups
  c: Microsoft.Network
  d: books-of-it
  e: "00000000-0000-0000-0000-000000000000"
  f: Succeeded
  g: Standard_LRS
"""


def test_secrets_that_are_common_words_break_nothing(tmp_path):
    """Ids are complete, bodies are what git has, and nothing looks like drift; only messages are poorer."""
    world = World(tmp_path).says(group=GROUP, words=WORDY, lake=ACCOUNT)
    first, second = world.sync(), world.sync()
    assert of(first, "StorageAccount").arm_id == ACCOUNT_ID
    assert not [line for line in world.writes if not line.startswith("POST")], "nothing is sent again"
    assert {result.verdict.value for result in second.results} == {"in-sync"}
    assert {result.condition.reason for result in second.results} == {"Succeeded"}
    record = of(second, "StorageAccount").record
    assert (record.arm_id, record.spec.applied["location"]) == (ACCOUNT_ID, "westeurope")
    assert world.plan().summary == {"in-sync": 2}


def test_problems_of_offline_commands_quote_no_secret(tmp_path, capsys, monkeypatch):
    """A manifest that has a secret where a word of a list belongs is reported without the word."""
    manifest = ACCOUNT.replace("kind: StorageV2", f"kind: {json.dumps(PASSWORD)}")
    (tmp_path / "all.yaml").write_text(f"{GROUP}---\n{manifest}---\n{SECRET}")
    monkeypatch.chdir(tmp_path)
    for words in (["validate"], ["validate", "--output", "json"], ["render", "--output", "json"]):
        assert command(words) == 1
        out = capsys.readouterr().out
        problems = out if words[0] == "validate" else json.dumps([r["problems"] for r in json.loads(out)["resources"]])
        assert MASKED in problems, words
        assert HUNT.found(problems) == set(), words
