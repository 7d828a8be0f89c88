"""The benchmark runs, and the clients send the requests that it states; what it measures is not evaluated here, so its
processes are forked from one that has imported gitsync.
"""

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.programs import needs_build_tool
from tests.support.warm_process import write_interpreter

ROOT = Path(__file__).resolve().parent.parent
SYNCS = ("first run of 22", "second run of 22", "second run of 4, throttled")
STARTS = ("--help", "render of 50")


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return write_interpreter(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="module")
def results(python, tmp_path_factory):
    """Of 22 resources: one group as a whole, and the beginning of another."""
    file = tmp_path_factory.mktemp("bench") / "results.json"
    command = [python, "-m", "bench", "--resources", "22", "--rounds", "1", "--output", str(file)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(file.read_text(encoding="utf-8")) | {"shown": done.stdout}


def test_everything_is_measured_and_shown(results):
    measured = {(row["scenario"], row["figure"]) for row in results["rows"]}
    assert measured == {(s, f) for s in SYNCS for f in ("seconds", "cpu", "memory", "requests")} | {
        (s, f) for s in STARTS for f in ("seconds", "cpu")
    }
    assert all(scenario in results["shown"] for scenario, _ in measured)


def test_the_bare_client_sends_the_requests_of_a_run_without_lists(results):
    sent = {
        r["scenario"]: (r["ours"]["median"], r["bare"]["median"]) for r in results["rows"] if r["figure"] == "requests"
    }
    assert {scenario: bare for scenario, (_, bare) in sent.items()} == dict(zip(SYNCS, (46, 22, 4), strict=True))
    # One lists the groups of the subscription, so that checks leave those out that are not there yet.
    assert sent["first run of 22"][0] == 49
    # Lists, and on most days not one of the resources of the day's sample, which are read as well.
    assert 10 <= sent["second run of 22"][0] < 22
    assert 2 <= sent["second run of 4, throttled"][0] <= 4


def test_large_estates_are_measured_for_each_resource(python):
    command = [python, "-m", "bench.large", "4"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    head, *rows = done.stdout.splitlines()
    assert "ms/resource" in head
    assert [row.split()[:2] for row in rows] == [["4", "first"], ["4", "second"]]


def test_rehearsals_are_measured_beside_the_syncs_that_they_play(python):
    command = [python, "-m", "bench.rehearsal", "--resources", "4"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    _, *rows = done.stdout.splitlines()
    assert [row.rsplit(maxsplit=3)[0] for row in rows] == ["of a first sync", "of a silent sync"], done.stderr


def test_documents_of_four_sorts_are_measured_beside_the_parser(python):
    command = [python, "-m", "bench.volume", "--documents", "40", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    _, *rows = done.stdout.splitlines()
    assert [row.rsplit(maxsplit=3)[0].strip() for row in rows] == ["without a kind", "foreign", "misspelt", "valid"], (
        done.stderr
    )


@needs_build_tool
def test_a_large_root_is_measured_beside_one_of_which_everything_is_built(python):
    command = [python, "-m", "bench.roots", "--files", "20", "--ours", "10"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert [row.rsplit(maxsplit=2)[0] for row in done.stdout.splitlines()[1:3]] == [
        "what is for gitsync",
        "every kustomization",
    ], done.stderr


def test_a_run_over_any_type_is_measured_beside_one_over_kinds(python):
    command = [python, "-m", "bench.any_type", "--resources", "10", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    _, *rows, times = done.stdout.splitlines()
    assert [row.rsplit(maxsplit=3)[0] for row in rows] == ["ASO's kinds", "three in ten of any type"], done.stderr
    assert "times the CPU" in times


def test_sites_are_measured_beside_plans(python):
    command = [python, "-m", "bench.site", "--resources", "6", "--commits", "2"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    _, *rows, page = done.stdout.splitlines()
    titles = [row.rsplit(maxsplit=3)[0] for row in rows]
    assert titles == ["plan", "site, 2 commits", "again, one commit more"], done.stderr
    assert page.startswith("First page of 30,000 resources")
