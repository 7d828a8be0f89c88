"""A report that is read from its JSON: it reports the same again, and anything else is refused."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import StateError
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckVerdict
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.hold import HeldUntil
from gitsync.model.manifests import Coverage, UnreadDocument
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.plan import LastCommit
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.report import RequestCounts, RequestUse
from gitsync.model.result import Outcome, Replacement
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.document import MOST_DOCUMENTS, read_report
from gitsync.report.json import build_document, render
from tests.report.golden_runs import BROKEN, FINE, LOGS, RUNS
from tests.report.report_builders import FULL, IN_SYNC, PLAN, TARGET, failed, key, report, result
from tests.support.parts import change

BRANCH = "gitsync/status-shards/42/1"


def read_again(value):
    return read_report(render(value).encode(), BRANCH)


def changed(value, **members):
    return json.dumps(build_document(value) | members).encode()


@pytest.mark.parametrize("value", [FULL, PLAN, report(), *RUNS.values()], ids=["full", "plan", "empty", *RUNS])
def test_a_report_is_the_same_when_it_was_read_from_its_json(value):
    assert render(read_again(value)) == render(value)


TEXTS = st.text(max_size=8)
KEYS = st.builds(
    key,
    st.sampled_from(["ResourceGroup", "Vault"]),
    st.sampled_from("abcd"),
    st.sampled_from(["resources.azure.com", "keyvault.azure.com"]),
    st.sampled_from(["default", "shop"]),
)
CONDITIONS = st.builds(
    Condition,
    status=st.sampled_from(ConditionStatus),
    severity=st.sampled_from(Severity),
    reason=st.sampled_from(["Succeeded", "AuthorizationFailed", "Planned", "NotReached", "ReplaceNeeded"]),
    message=TEXTS,
    advice=st.sampled_from(["", "Grant it the right."]),
)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, lambda inner: st.lists(inner, max_size=2))


OUTSIDE = st.builds(OutsideChange, path=TEXTS, before=VALUES, now=VALUES, weakens=TEXTS, is_restorable=st.booleans())
RESETS = st.builds(ResetValue, path=TEXTS, live=VALUES, entries=st.integers(0, 9))


@st.composite
def results(draw):
    """Results that a run could have: an action that was not taken well has failed, or Azure still works on it."""
    verdict = draw(st.sampled_from([verdict for verdict in Verdict if verdict is not Verdict.HELD]))
    blocked, fault = verdict is Verdict.BLOCKED, draw(st.sampled_from([None, None, ValueError("a bug")]))
    found = {
        "condition": draw(CONDITIONS),
        "is_fine": draw(st.booleans()) and not blocked and fault is None,
        "differences": tuple(draw(st.lists(st.builds(Difference, TEXTS, VALUES, VALUES, TEXTS), max_size=2))),
        "unverified": tuple(draw(st.sets(TEXTS, max_size=2))),
        "source": draw(st.none() | st.builds(SourceLocation, TEXTS, st.integers(1, 9))),
        "arm_id": draw(st.none() | st.builds(ArmId, TEXTS)),
        "because": draw(st.dictionaries(TEXTS, TEXTS, max_size=2)),
        "fault": fault,
        "policy_reason": draw(TEXTS),
        "failed_since": draw(TEXTS),
        "checks": tuple(draw(st.lists(st.sampled_from(FINE), max_size=2))),
        "outside": tuple(draw(st.lists(OUTSIDE, max_size=2))),
        "resets": tuple(draw(st.lists(RESETS, max_size=2))),
    }
    action = Action.NONE if blocked else draw(st.sampled_from(Action))
    if draw(st.booleans()):
        found["hold"] = HeldUntil(draw(st.dates()), draw(TEXTS))
        found |= draw(st.sampled_from([{}, {"withheld": verdict}]))
    if "withheld" in found:
        verdict, action = Verdict.HELD, Action.NONE
    if draw(st.booleans()):
        found["last_commit"] = draw(
            st.builds(LastCommit, commit=TEXTS, author=TEXTS) | st.builds(LastCommit, doubt=TEXTS)
        )
    if action is Action.REPLACE:
        takes = tuple(draw(st.lists(KEYS, max_size=2)))
        found["replacement"] = Replacement(
            reason=draw(TEXTS), takes=takes, is_due=True, away=draw(st.none() | st.just(2.5))
        )
    elif action is Action.NONE and draw(st.booleans()):
        found["replacement"] = Replacement(reason=draw(TEXTS))
    return result(draw(KEYS), verdict, action, **found)


@st.composite
def reports(draw):
    unique = {shown.key: shown for shown in draw(st.lists(results(), max_size=4))}
    ordered = [unique[name] for name in sorted(unique)]
    for location, row in enumerate(ordered):  # what blocks comes first, so there is no circle
        if location and draw(st.booleans()):
            ordered[location] = change(row, blocked_by=draw(st.sampled_from(ordered[:location])).key)
    counts, few = (st.builds(RequestCounts, *[st.integers(*span)] * 6) for span in ((9, 999), (0, 9)))
    unread = st.builds(
        UnreadDocument,
        source=st.just(SourceLocation("a.yaml", 1)),
        api_version=st.sampled_from(["v1", "apps/v1"]),
        kind=st.sampled_from(["Deployment", "", "no kind"]),
        is_rejected=st.booleans(),
    )
    return report(
        *ordered,
        command=draw(st.sampled_from(["sync", "plan"])),
        exit_code=draw(st.sampled_from([0, 1, 2, 3, 4, 70])),
        interrupted=draw(st.booleans()),
        base=draw(st.none() | st.just("b" * 40)),
        target=replace(TARGET, other_subscriptions=("1", "2")),
        requests=draw(counts),
        unrepeated=draw(few),
        use=RequestUse({"Microsoft.Sql/servers": {"get": 2}}, {"reads": draw(st.floats(0, 1))}),
        coverage=Coverage(files=3, unread=tuple(draw(st.lists(unread, max_size=4))), ignored=("b.yaml",)),
        problems=draw(
            st.lists(
                st.builds(Problem, code=TEXTS, message=TEXTS, hint=TEXTS, level=st.sampled_from(Level)), max_size=2
            )
        ),
    )


@given(reports())
def test_any_report_is_the_same_when_it_was_read_from_its_json(value):
    assert render(read_again(value)) == render(value)


@pytest.mark.parametrize(
    ("value", "outcome"),
    [
        (result(IN_SYNC.key, Verdict.BLOCKED, fault=ValueError("a bug")), Outcome.FAILED),
        (BROKEN, Outcome.FAILED),
        (
            result(IN_SYNC.key, Verdict.BLOCKED, condition=failed("WaitingForOwner", "", Severity.WARNING)),
            Outcome.BLOCKED,
        ),
        (LOGS, Outcome.CHANGED),
    ],
    ids=["a fault of what waits otherwise", "a failure", "waiting", "to change"],
)
def test_a_resource_has_the_outcome_that_it_had(value, outcome):
    assert [shown.outcome for shown in read_again(report(value)).results] == [outcome]


def test_what_waits_is_not_fine_and_what_was_deleted_is():
    waits = result(IN_SYNC.key, Verdict.BLOCKED, condition=failed("WaitingForOwner", "", Severity.WARNING))
    assert not read_again(report(waits)).results[0].is_fine
    gone = result(IN_SYNC.key, Verdict.DELETE, Action.DELETE, failed("Deleting", "", Severity.INFO), is_fine=True)
    assert read_again(report(gone)).results[0].is_fine


def resource(**members):
    return {"resources": [build_document(report(IN_SYNC))["resources"][0] | members]}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "is not JSON"),
        (b"[" * 200 + b"]" * 200, "more than 100 levels deep"),
        (b"[]", "is not a JSON object"),
        (changed(FULL, schemaVersion=2), "schemaVersion is not 1"),
        (changed(FULL, command="validate"), "command is neither sync nor plan"),
        (changed(FULL, started="yesterday"), "started is 'yesterday', not a time"),
        (changed(FULL, exitCode=99), "exitCode is not a gitsync exit code"),
        (changed(FULL, requests={}), "requests.reads is missing"),
        (changed(FULL, target=None), "target is missing"),
        (changed(FULL, resources={}), "resources must be a list"),
        (changed(FULL, **resource(verdict="fine")), "resources[0].verdict is 'fine', not one of"),
        (changed(FULL, **resource(outcome="changed")), "outcome is 'changed', which its other members contradict"),
        (changed(FULL, **resource(blockedBy="me")), "blockedBy must be Kind.group/namespace/name"),
        (changed(FULL, **resource(hold={"until": "x", "reason": "", "verdict": "held"})), "hold.until must be a date"),
        (
            changed(FULL, coverage=build_document(FULL)["coverage"] | {"rejected": MOST_DOCUMENTS + 1}),
            "coverage.rejected is more than 1000000",
        ),
        (changed(FULL, requests=build_document(FULL)["requests"] | {"hourShares": {"reads": "1"}}), "must be a share"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_anything_else_is_refused_with_the_branch_that_has_it(content, expected):
    with pytest.raises(StateError) as refusal:
        read_report(content, BRANCH)
    assert expected in refusal.value.message
    assert BRANCH in refusal.value.message


def test_a_check_that_refuses_is_kept():
    value = RUNS["refused-sync"]
    (refused,) = (shown for shown in read_again(value).results if shown.is_refused)
    assert refused.list_found(CheckVerdict.REFUSED)[0].code == "RequestDisallowedByPolicy"
