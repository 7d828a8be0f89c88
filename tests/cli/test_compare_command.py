"""`gitsync compare`: two ARM documents, or many, from the command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from gitsync.cli.main import run
from tests.support.command_line import LONG, variables

REDIS = "Microsoft.Cache/redis"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def files(elsewhere):
    def write(**bodies):
        for name, body in bodies.items():
            (elsewhere / name).write_text(body if isinstance(body, str) else json.dumps(body))

    return write


def line(**more):
    return json.dumps({"desired": {}, "live": {}, **more})


def test_nothing_differs(files, capsys):
    files(
        desired="location: West US\nproperties: {mode: a}\n", live={"location": "westus", "properties": {"mode": "a"}}
    )
    assert run(["compare", "desired", "live"]) == 0
    assert capsys.readouterr().out == "0 differences, 0 unverified.\n"


def test_what_differs_is_reported_with_its_rule(files, capsys):
    files(
        desired={"location": "westus", "properties": {"a": 1, "b": 2}},
        live={"location": "eastus", "properties": {"a": 3}},
    )
    assert run(["compare", "desired", "live"]) == 4
    assert capsys.readouterr().out == (
        '/location: differs from git, compared as a region\n  - "eastus"\n  + "westus"\n'
        "/properties/a: differs from git\n  - 3\n  + 1\n"
        "/properties/b: cannot be verified\n"
        "2 differences, 1 unverified.\n"
    )


def test_as_json(files, capsys):
    files(desired={"a": 1, "b": 2}, live={"a": 3})
    assert run(["compare", "desired", "live", "--output", "json"]) == 4
    assert json.loads(capsys.readouterr().out) == {
        "differences": [{"path": "/a", "desired": 1, "live": 3, "rule": "differs from git"}],
        "unverified": ["/b"],
    }


def test_the_facts_of_the_type_are_used(files, capsys):
    files(desired={"properties": {"redisVersion": "6"}}, live={"properties": {"redisVersion": "6.0"}})
    assert run(["compare", "desired", "live"]) == 4
    assert run(["compare", "desired", "live", "--type", REDIS, "--api-version", "2024-11-01"]) == 0
    assert run(["compare", "desired", "live", "--type", REDIS]) == 0


def test_a_baseline_holds_azure_to_what_it_said(files, capsys):
    files(desired={"a": "x"}, live={"a": "X!"}, baseline={"a": "X!", "more": 1}, other={"a": "Y!"}, applied={"a": "w"})
    assert run(["compare", "desired", "live"]) == 4
    assert run(["compare", "desired", "live", "--baseline", "baseline"]) == 0
    assert run(["compare", "desired", "live", "--baseline", "other"]) == 4
    capsys.readouterr()
    assert run(["compare", "desired", "live", "--baseline", "baseline", "--applied", "applied"]) == 4
    assert "changed in git" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("baseline", "live", "code", "why"),
    [
        ({"a": "chosen"}, {"a": "chosen"}, 0, "Azure may choose"),
        ({"a": "chosen"}, {"a": "other"}, 4, "what it chose is held to"),
        ({"a": "chosen"}, {}, 4, "and may not go"),
        ({}, {"a": "chosen"}, 0, "it may choose later"),
        ({"a": ["one"]}, {"a": ["one", "two"]}, 0, "and fill a list at any time"),
    ],
)
def test_a_null_selects_what_azure_chooses(files, baseline, live, code, why):
    files(desired={"a": None}, live=live, baseline=baseline)
    assert run(["compare", "desired", "live", "--baseline", "baseline"]) == code, why
    assert run(["compare", "desired", "live"]) == 0


def test_the_id_of_the_resource_may_be_given(files, capsys):
    own = "/subscriptions/s/resourceGroups/g/providers/Microsoft.ApiManagement/service/a"
    files(desired={"properties": {"scope": "/apis"}}, live={"properties": {"scope": f"{own}/apis"}})
    assert run(["compare", "desired", "live"]) == 4
    assert run(["compare", "desired", "live", "--id", f"{own}/subscriptions/x"]) == 0


def test_many_comparisons_of_a_file(files, capsys):
    files(many="\n".join([line(desired={"a": 1}, live={"a": 1}), "", line(desired={"a": 1}, live={"a": 2})]))
    assert run(["compare", "--jsonl", "many"]) == 4
    same, other = map(json.loads, capsys.readouterr().out.splitlines())
    assert same == {"differences": [], "unverified": []}
    assert [found["path"] for found in other["differences"]] == ["/a"]


def test_many_comparisons_of_a_pipe(tmp_path):
    checks = [line(desired={"a": [{"name": "x", "v": i}]}, live={"a": [{"name": "x", "v": i}]}) for i in range(1000)]
    done = subprocess.run(
        [sys.executable, "-m", "gitsync", "compare", "--jsonl", "-"],
        input="\n".join(checks),
        capture_output=True,
        text=True,
        timeout=LONG,
        cwd=tmp_path,
        env=variables(),
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == '{"differences": [], "unverified": []}\n' * 1000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Line 2 is not JSON: Expecting property name enclosed in double quotes at column 2."),
        ("[]", "Line 2 is not a JSON object."),
        ('{"live": {}}', "Line 2: desired is missing."),
        ('{"desired": {}, "live": []}', "Line 2: live must be a mapping."),
        ('{"desired": {}, "live": {}, "baseline": 1}', "Line 2: baseline must be a mapping."),
        ('{"desired": {}, "live": {}, "applied": "x"}', "Line 2: applied must be a mapping."),
        ('{"desired": {}, "live": {}, "type": 1}', "Line 2: type must be a string."),
        ('{"desired": {"a": NaN}, "live": {}}', "Line 2 is not JSON: NaN is not JSON."),
        ('{"desired": {"a": ' + "[" * 100_000, "Line 2 is not JSON: more than 100 levels deep."),
        (
            '{"live": {"a": ' + "[" * 400 + "]" * 400 + '}, "desired": {"a": ' + "[" * 400 + "1" + "]" * 400 + "}}",
            "Line 2 is not JSON: more than 100 levels deep.",
        ),
    ],
    ids=lambda value: value[:30],
)
def test_a_bad_line_is_reported_by_its_number(text, message, files, capsys):
    files(many=f"{line()}\n{text}\n")
    assert run(["compare", "--jsonl", "many"]) == 2
    told = capsys.readouterr()
    assert told.out == '{"differences": [], "unverified": []}\n', "what came before is answered"
    assert told.err.startswith(f"gitsync: {message}\n")


def test_a_line_that_is_not_a_text(elsewhere, capsys):
    (elsewhere / "many").write_bytes(b'{"desired": "\xff"}\n')
    assert run(["compare", "--jsonl", "many"]) == 2
    assert "Line 1 is not JSON: byte 14 is not UTF-8." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["desired"], "compare needs two documents."),
        ([], "compare needs two documents."),
        (["desired", "live", "--jsonl", "-"], "--jsonl cannot be combined with DESIRED and LIVE."),
        (["desired", "nowhere"], "nowhere cannot be read: No such file or directory."),
        (["--jsonl", "nowhere"], "nowhere cannot be read: No such file or directory."),
        (["desired", "list"], "list is not an object."),
        (["desired", "two"], "two contains 2 documents."),
        (["desired", "none"], "none contains 0 documents."),
        (["desired", "broken"], "broken:2: "),
    ],
)
def test_bad_arguments(arguments, message, files, capsys):
    files(desired={}, live={}, list=[], two="a: 1\n---\nb: 1\n", none="", broken="a: 1\na: 2\n")
    assert run(["compare", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"gitsync: {message}")


@pytest.mark.parametrize(
    "options",
    [
        ["--type", "Microsoft.Logic/workflows@2019-05-01"],
        ["--type", "microsoft.logic/WORKFLOWS", "--api-version", "2019-05-01"],
        ["--type", "Microsoft.Logic/workflows"],
    ],
)
def test_a_type_without_a_kind_is_compared_by_arms_types(options, files, capsys):
    files(
        desired={"properties": {"state": "enabled", "version": "1"}},
        live={"properties": {"state": "Enabled", "version": "2"}},
    )
    assert run(["compare", "desired", "live", *options]) == 0
    assert capsys.readouterr().out == "/properties/version: cannot be verified\n0 differences, 1 unverified.\n"


def test_a_line_may_name_the_version_with_the_type(files, capsys):
    bodies = {"desired": {"properties": {"state": "enabled"}}, "live": {"properties": {"state": "Disabled"}}}
    files(lines=json.dumps({**bodies, "type": "Microsoft.Logic/workflows@2019-05-01"}) + "\n")
    assert run(["compare", "--jsonl", "lines"]) == 4
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert difference["rule"] == "differs from git, compared as an enumeration"
