"""What a person is set to do next about secrets and credentials; all else is in the golden texts."""

from dataclasses import replace

import pytest

from gitsync.model.problem import Level, Problem
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.secret_changes import NO_KEY
from gitsync.planning.diff.unknown_values import NOT_KNOWN
from gitsync.report.nextsteps import list_next_steps
from tests.report.report_builders import IN_SYNC, key, report
from tests.support.parts import change

PASSWORD = "/properties/password"
A_PLAN = replace(report(change(IN_SYNC, because={PASSWORD: f"{NOT_KNOWN}: it is exported."})), command="plan")
INVALID = replace(IN_SYNC, verdict=Verdict.INVALID)


APPLY, KEEP, ALSO_PRUNE, PRUNE = (
    "to apply these changes",
    "run `gitsync accept`",
    "Add `--prune`",
    "Run `gitsync sync --prune`",
)
SYNC_STEPS = [
    ([Verdict.CREATE], [APPLY], "a change"),
    ([Verdict.DRIFTED], [APPLY, KEEP], "drift has two ways"),
    ([Verdict.CREATE, Verdict.CONFLICT], [APPLY, KEEP], "both"),
    ([Verdict.CREATE, Verdict.DELETE], [APPLY, ALSO_PRUNE], "a delete that needs a flag"),
    ([Verdict.DELETE], [PRUNE], "nothing else"),
    ([Verdict.IN_SYNC], [], "nothing to do"),
]


@pytest.mark.parametrize(("verdicts", "words", "why"), SYNC_STEPS, ids=[row[-1] for row in SYNC_STEPS])
def test_a_plan_has_one_hint_for_its_sync(verdicts, words, why):
    results = (replace(IN_SYNC, key=key("A", verdict.value), verdict=verdict) for verdict in verdicts)
    shown = list_next_steps(replace(report(*results), command="plan"))
    assert len(shown) == bool(words), why
    every = (APPLY, KEEP, ALSO_PRUNE, PRUNE)
    assert [each for each in every if each in " ".join(shown)] == words, why


def problem(code):
    return Problem(code=code, level=Level.ERROR, message="It is wrong.", path="a.yaml", line=1)


def steps(value, words):
    return [step for step in list_next_steps(value) if words in step]


@pytest.mark.parametrize(
    ("value", "count", "why"),
    [
        (A_PLAN, 1, "it is in sync as far as that can be told"),
        (replace(A_PLAN, command="sync"), 0, "a sync asked"),
        (replace(A_PLAN, results=(change(A_PLAN.results[0], because={PASSWORD: NO_KEY}),)), 0, "another reason"),
        (
            replace(A_PLAN, results=(replace(A_PLAN.results[0], action=Action.UPDATE, verdict=Verdict.PENDING),)),
            0,
            "it is written in any case",
        ),
    ],
)
def test_what_a_plan_did_not_request_is_not_skipped(value, count, why):
    assert len(steps(value, "This plan did not read every exported or external value")) == count, why


@pytest.mark.parametrize(
    ("codes", "credentials", "manifests", "why"),
    [
        (["CredentialNotUsable"], 1, 0, "no manifest is wrong"),
        (["CredentialNotUsable", "MissingField"], 1, 1, "both"),
        (["MissingField"], 0, 1, "the manifest alone"),
        (["ExportNotOwned"], 0, 0, "its hint is enough, and validate does not look into secret sources"),
        (["IdentityNotAllowed"], 0, 0, "its hint is enough, and the operator may have to act"),
        (["ExportNotRemoved"], 0, 0, "a sink refused"),
        ([], 0, 1, "it is invalid, for whatever reason"),
    ],
)
def test_who_lacks_a_credential_is_not_sent_to_the_manifests(codes, credentials, manifests, why):
    value = replace(report(INVALID), problems=tuple(problem(code) for code in codes))
    assert len(steps(value, "Fix the credential Secret")) == credentials, why
    assert len(steps(value, "Fix the manifests")) == manifests, why


def test_an_error_without_a_file_is_none_of_a_manifest():
    """`validate` would find nothing: the hint of the error shows what to do."""
    distrusted = replace(problem("RecordNotTrusted"), path="", line=None)
    assert not steps(replace(A_PLAN, problems=(distrusted,)), "Fix the manifests")
