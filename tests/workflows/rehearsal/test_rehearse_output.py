"""`gitsync rehearse` as a user reads it: each form of --output, the files of --report, and the summary of a job."""

import json

import pytest

from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.json_schemas import list_faults

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec: {location: westeurope}
"""
HEADLINE = "The sync would create 1"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "estate"
    folder.mkdir()
    (folder / "group.yaml").write_text(GROUP)
    return folder


def rehearse(folder, *arguments, **variables):
    return run_here("rehearse", *arguments, folder=folder, AZURE_SUBSCRIPTION_ID=SUBSCRIPTION, **variables)


@pytest.mark.parametrize(
    ("output", "begin"),
    [
        ("text", HEADLINE),
        ("markdown", f"<!-- gitsync -->\n### {HEADLINE}"),
        ("html", "<!doctype html>"),
        ("json", "{"),
    ],
)
def test_each_form_is_on_stdout_alone(folder, output, begin):
    done = rehearse(folder, "-o", output)
    assert (done.code, done.out[: len(begin)]) == (0, begin), done.err
    assert HEADLINE in done.out


def test_json_is_as_its_schema_describes(folder):
    document = json.loads(rehearse(folder, "-o", "json").out)
    assert list_faults("rehearse", document) == []
    assert (document["silent"], [write["resource"] for write in document["writes"]]) == (
        True,
        ["ResourceGroup.resources.azure.com/default/web"],
    )


def test_report_writes_every_form_beside_stdout(folder, tmp_path):
    done = rehearse(folder, "--report", "../report")
    files = {path.name: path.read_text() for path in (tmp_path / "report").iterdir()}
    assert done.out.startswith(HEADLINE)
    assert sorted(files) == ["rehearse.html", "rehearse.json", "rehearse.md"]
    assert all(HEADLINE in text for text in files.values())


def test_a_job_of_github_gets_the_summary_once(folder, tmp_path):
    summary = tmp_path / "summary.md"
    rehearse(folder, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text().count(HEADLINE) == 1


def test_a_quiet_one_speaks_only_of_what_would_go_wrong(folder):
    assert (rehearse(folder, "-q").out, rehearse(folder, "-q").err) == ("", "")
    (folder / "bad.yaml").write_text(GROUP.replace("web", "bad").replace("location", "loction"))
    done = rehearse(folder, "-q")
    assert done.code == 1
    assert "Would fail" in done.out


def test_two_rehearsals_of_one_revision_say_the_same(folder):
    documents = [json.loads(rehearse(folder, "-o", "json").out) for _ in range(2)]
    for document in documents:
        for report in (document["first"], document["second"]):
            del report["started"], report["finished"]
            for resource in report["resources"]:
                resource.pop("sent", None)
    assert documents[0] == documents[1]
    assert rehearse(folder, "-o", "html").out == rehearse(folder, "-o", "html").out
