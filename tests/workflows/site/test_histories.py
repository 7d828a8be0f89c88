"""What the site reads of a status branch and its history."""

import json
import subprocess
from collections import Counter

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.record import Claim
from gitsync.report.site.data_files import decode_data, encode_data
from gitsync.report.site.shapes import MOST_CHANGES
from gitsync.workflows.site.reading import CUT
from tests.support.former_status import make_former
from tests.workflows.site.histories import StatusHistory, a_record, build, read, report_entry, write_report

KEY = "ResourceGroup.resources.azure.com/default/one"
FAILED = Condition(status=ConditionStatus.FALSE, severity=Severity.ERROR, reason="Conflict", message="It is in use")


@pytest.fixture
def history(tmp_path):
    return StatusHistory(tmp_path)


def list_kinds(estate, key=KEY):
    return [kind for _, _, kind, _ in estate.history.histories[key]]


def test_a_resource_has_an_event_for_each_change_of_its_record(history):
    first = history.save(a_record("one", claim=Claim.EXPECTED, condition=None))
    history.save(a_record("one", count=1))
    history.save(a_record("one", count=1, condition=FAILED))
    history.save(a_record("two"), a_record("one", count=2))
    last = history.save(forget=(a_record("one").key,))
    estate = history.read()
    assert list_kinds(estate) == ["expected", "created", "ready", "failed", "updated", "ready", "removed"]
    told = estate.history.histories[KEY]
    assert told[0] == ("2024-05-01T11:00:00Z", first, "expected", "")
    assert told[3][3] == "Conflict: It is in use"
    assert told[-1][1] == last == estate.commit
    assert [(run["at"][11:13], dict(run["events"])) for run in estate.history.runs] == [
        ("11", {"expected": 1}),
        ("12", {"created": 1, "ready": 1}),
        ("13", {"failed": 1}),
        ("14", {"created": 1, "ready": 2, "updated": 1}),
        ("15", {"removed": 1}),
    ]
    assert estate.history.days == {"2024-05-01": (1, 0, 0)}


def test_drift_lasts_from_the_change_in_azure_until_the_run_that_repairs_it(history):
    history.save(a_record("one"), report=write_report(report_entry("one")))
    drifted = {
        "verdict": "drifted",
        "differences": [{"path": "/tags/a", "desired": 1, "live": 2, "rule": "changed"}],
        "changedBy": [{"at": "2024-05-01T11:30:00Z"}],
    }
    held = report_entry("one", **drifted | {"verdict": "held", "hold": {"verdict": "drifted"}})
    history.save(a_record("one", condition=FAILED), report=write_report(held))
    repaired = report_entry("one", **drifted, action="update", outcome="changed")
    history.save(a_record("one", count=1), report=write_report(repaired))
    history.save(a_record("one", count=2), report=write_report(repaired))
    estate = history.read()
    assert not estate.history.open
    assert [(each["since"], each["until"], each["how"], each["fields"]) for each in estate.history.past] == [
        ("2024-05-01T11:30:00Z", "2024-05-01T13:00:00Z", "repaired", ["/tags/a"]),
    ]
    assert "drifted" in list_kinds(estate)


def test_a_run_counts_all_of_its_events_and_names_the_first_of_each_kind(history):
    history.save(*(a_record(f"rg-{number}", count=1) for number in range(69)))
    [run] = history.read().history.runs
    assert run["events"] == [("created", 69), ("ready", 69)]
    assert Counter(kind for _, kind, _ in run["changed"]) == {"created": MOST_CHANGES, "ready": MOST_CHANGES}


def test_drift_ends_with_its_resource(history):
    drifted = report_entry("one", verdict="missing")
    history.save(a_record("one"), report=write_report(drifted))
    assert [each["verdict"] for each in history.read().history.open] == ["missing"]
    history.save(forget=(a_record("one").key,), report=write_report())
    estate = history.read()
    assert not estate.history.open
    assert [each["how"] for each in estate.history.past] == ["removed"]


def test_a_branch_that_was_rewound_is_read_again(history):
    first = history.save(a_record("one"))
    history.save(a_record("one", condition=FAILED))
    earlier = history.build()
    history.git("update-ref", "refs/heads/gitsync/status", first)
    history.save(a_record("one"), a_record("two"))
    estate = history.read(earlier)
    assert build(estate) == history.build()
    assert "failed" not in list_kinds(estate)


def test_a_branch_without_commits_has_no_history(history):
    estate = history.read()
    assert (estate.state.records, estate.history.histories, estate.history.runs) == ({}, {}, [])
    history.save(a_record("one"))
    assert list_kinds(history.read(history.build())) == ["created", "ready"]


def test_a_shallow_repository_begins_with_its_first_commit(history, tmp_path):
    for name in ("one", "two", "three"):
        history.save(a_record(name))
    shallow = tmp_path / "shallow.git"
    subprocess.run(
        [
            *("git", "clone", "--quiet", "--bare", "--depth=1", "--branch", "gitsync/status"),
            f"file://{history.folder}",
            str(shallow),
        ],
        check=True,
    )
    estate = history.read(folder=shallow)
    assert len(estate.history.runs) == 1
    assert estate.history.notes == (CUT,)
    assert len(estate.history.histories) == 3


def test_a_record_that_cannot_be_read_is_an_event_and_hides_no_other(history):
    history.save(a_record("one"), a_record("two"))
    tip = history.git("rev-parse", "gitsync/status")
    path = "default/resources.azure.com/ResourceGroup/one.json"
    blob = history.git("hash-object", "-w", "--stdin", stdin="{broken")
    history.git("read-tree", tip)
    history.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}")
    tree = history.git("write-tree")
    broken = history.git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", tree, "-p", tip, "-m", "Break it")
    history.git("update-ref", "refs/heads/gitsync/status", broken)
    mended = history.git(
        *("-c", "user.name=a", "-c", "user.email=a@b"), "commit-tree", f"{tip}^{{tree}}", "-p", broken, "-m", "Mend it"
    )
    history.git("update-ref", "refs/heads/gitsync/status", mended)
    estate = history.read()
    assert list_kinds(estate) == ["created", "ready", "unreadable"]
    assert [run["headline"] for run in estate.history.runs][1:] == ["Break it", "Mend it"]


NAMES = st.sampled_from(["one", "two", "three"])
STEPS = st.lists(
    st.dictionaries(
        NAMES,
        st.none() | st.fixed_dictionaries({"condition": st.sampled_from([FAILED, None]), "count": st.integers(0, 2)}),
        min_size=1,
        max_size=3,
    ),
    min_size=2,
    max_size=5,
)


@settings(max_examples=6, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(STEPS, st.integers(1, 4), st.booleans())
def test_a_site_that_is_continued_is_the_one_that_is_made_at_once(tmp_path_factory, steps, at, has_drift):
    history = StatusHistory(tmp_path_factory.mktemp("status"))
    earlier = save_steps(history, steps, at, has_drift=has_drift)
    with history.open() as store:
        estate = read(store)
        at_once = build(estate)
        assert build(read(store, at_once)) == at_once
    assert history.build(earlier) == at_once, "from what is fetched since then"
    shown = {key for name, shard in at_once.items() if name.startswith("resources/") for key in shard}
    assert shown == {str(key) for key in estate.state.records}


def save_steps(history, steps, at, *, has_drift):
    """Save them, and give the site that is built after one of them."""
    earlier = None
    for number, step in enumerate(steps):
        records = [a_record(name, **changes) for name, changes in step.items() if changes is not None]
        gone = tuple(a_record(name).key for name, changes in step.items() if changes is None)
        entries = [
            report_entry(r.key.name, verdict="drifted" if has_drift and number % 2 else "in-sync") for r in records
        ]
        history.save(*records, forget=gone, report=write_report(*entries))
        if number == at:
            earlier = history.build()
    return earlier


HOSTILE = "</script>\u2028\u202e<img src=x onerror=alert(1)>__proto__" + "x" * 5000


def test_hostile_texts_are_values_and_nothing_else(history):
    failed = Condition(
        status=ConditionStatus.FALSE, severity=Severity.ERROR, reason=HOSTILE, message=f"{HOSTILE} rob@contoso.com"
    )
    entry = report_entry(
        "one",
        verdict="drifted",
        differences=[{"path": HOSTILE, "desired": {"__proto__": HOSTILE}, "live": None, "rule": HOSTILE}],
        outside=[{"path": "/__proto__", "field": HOSTILE, "before": None, "now": {"__proto__": 1}, "weakens": ""}],
        unverified=[HOSTILE],
    )
    history.save(
        a_record("one", condition=failed, path=HOSTILE, agent=HOSTILE, applied={"__proto__": HOSTILE}),
        report=write_report(entry, headline=HOSTILE, outcomes={"__proto__": 3, "failed": 1}, target={"agent": HOSTILE}),
        headline=HOSTILE,
    )
    data = history.build()
    for name, value in data.items():
        content = encode_data(name, value)
        assert decode_data(name, content) == json.loads(json.dumps(value))
        assert b'"__proto__":' not in content, "no member is named by somebody else"
        assert b"rob@contoso.com" not in content
    resource = data["resources/prod/0"][KEY]
    assert resource["state"] == "failed"
    assert resource["differences"][0]["path"] == HOSTILE
    assert len(data["history/prod/0"][KEY][0][3]) < 400


def test_a_malformed_report_hides_nothing(history):
    for report in ("[]", "{", '{"resources": {"a": 1}, "target": 3}', '{"resources": [{"differences": 3}]}'):
        history.save(a_record("one", count=len(report)), report=report + "\n")
        estate = history.read()
        assert list_kinds(estate)[0] == "created"
        assert build(estate)["resources/prod/0"][KEY]["differences"] == []


def test_a_history_that_begins_in_yaml_is_read_from_its_start(history, tmp_path):
    history.save(a_record("one"), a_record("two"))
    work = tmp_path / "work"

    def git(*arguments):
        subprocess.run(["git", "-C", str(work), "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True)

    subprocess.run(
        ["git", "clone", "--quiet", "--branch", "gitsync/status", str(history.folder), str(work)], check=True
    )
    make_former(work)
    git("checkout", "--quiet", "--orphan", "former")
    git("add", "--all")
    git("commit", "--quiet", "--message", "Sync 2 resources")
    git("push", "--quiet", "--force", "origin", "former:gitsync/status")
    earlier = history.build()
    history.clock.time = "2099-05-01T10:00:00Z"
    history.push(a_record("one", condition=FAILED), a_record("two"))
    estate = history.read()
    assert list_kinds(estate) == ["created", "ready", "failed"]
    assert list_kinds(estate, KEY.replace("one", "two")) == ["created", "ready"]
    assert [sum(dict(run["events"]).values()) for run in estate.history.runs] == [4, 1]
    assert history.build(earlier) == build(estate)
