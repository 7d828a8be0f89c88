"""Settings of a Python program are checked as the command checks them."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from gitsync import api
from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.load import make_config

PAGE = Path(__file__).parents[3] / "docs" / "python-api.md"

WRONG = [
    ({"adopt": "wirte"}, "adopt: expected write or report, not 'wirte'", "a word that there is not"),
    ({"adopts": "write"}, "There is no setting 'adopts'. Did you mean adopt?", "a name that there is not"),
    ({"max_deletes": -1}, "max_deletes: expected a whole number from 0", "a number below the least"),
    ({"max_deletes": 1.5}, "max_deletes: expected a whole number", "half a resource"),
    ({"prune": 1}, "prune: expected a text, not a value of type int", "a number for a truth value"),
    ({"prune": "maybe"}, "prune: expected true or false", "no truth value"),
    ({"run_timeout": 0}, "run_timeout: expected a duration", "no time at all"),
    ({"endpoint": "http://evil.test"}, "endpoint: expected https", "a token in the clear"),
    ({"endpoint": 5}, "endpoint: expected a text, not a value of type int", "a number for an address"),
    ({"export_to": ("status", "nowhere")}, "export_to: expected some of", "a sink that there is not"),
    ({"digest_key": Secret("short")}, "digest_key: expected at least 32 characters", "a key that is too short"),
    ({"source": object()}, "source: expected a text, not a value of type object", "an object"),
    ({"credential": "anonymous"}, "anonymous goes only to this machine", "what does not fit together"),
    ({"status_branch": "a", "status_dir": "b"}, "exclude each other", "two places for the status"),
    ({"adopt": "x", "prune": "y"}, "adopt: expected write or report, not 'x'.\nprune: expected", "all at once"),
]


@pytest.mark.parametrize(("settings", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_wrong_setting_is_refused_before_anything_runs(settings, message, why):
    with pytest.raises(ConfigError) as refused:
        api.plan(**settings)
    assert message in str(refused.value), why


def test_what_a_config_has_is_taken_as_it_is():
    given = {name: setting.default for name, setting in SETTINGS.items() if setting.default not in (None, ())}
    made = make_config({**given, "digest_key": Secret("k" * 32), "only": ["a", "b"], "ref": None, "emulator": ""})
    assert made.digest_key.reveal() == "k" * 32
    assert (made.only, made.ref, made.emulator) == (("a", "b"), None, "")
    assert {name: getattr(made, name) for name in given} == given


def test_a_duration_is_seconds_or_a_text():
    assert make_config({"run_timeout": 90}).run_timeout == 90.0
    assert make_config({"run_timeout": "1m30s"}).run_timeout == 90.0


def test_the_example_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(PAGE.parents[1])
    page = PAGE.read_text(encoding="utf-8")
    names: dict[str, object] = {"status": str(tmp_path / "status")}
    (code,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, names)
    assert re.match(r"0 \d+ resources\n(\S+ create True\n){2}\Z", out.getvalue())
    assert f"`{WRONG[0][1]}.`" in page
