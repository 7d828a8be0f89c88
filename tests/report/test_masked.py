"""A report without its secrets: what is masked in it, and what stays complete because programs and people need it."""

from dataclasses import fields, is_dataclass, replace

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.outside import OutsideChange, RecordedOutside, ResetValue
from gitsync.model.plan import Reviewed
from gitsync.model.problem import Problem
from gitsync.model.record import Claim
from gitsync.model.result import FailedRequest, Stage
from gitsync.model.verdict import Difference, Verdict
from gitsync.report.masked import mask_exception, mask_report, mask_value
from tests.report.report_builders import DRIFTED, NET, REFUSED, failed, key, record, report, result
from tests.support.parts import change

VALUE = "hunter2-value"


def mask(text: str) -> str:
    return text.replace(VALUE, "<secret>")


SAID = f"You sent {VALUE}."
KEPT = record(
    key("VirtualNetwork", VALUE, NET),
    condition=failed(VALUE, SAID, request_id="1"),
    claim=Claim.CREATED,
    applied={"tags": {"note": VALUE}},
    baseline={"tags": {"note": VALUE}},
    outside=RecordedOutside(values={"tags": {"note": VALUE}}, types="1", read="2", changed=(f"/tags/{VALUE}",)),
)
TOLD = change(
    DRIFTED,
    key=key("VirtualNetwork", VALUE, NET),
    arm_id=ArmId(f"/subscriptions/1/resourceGroups/{VALUE}"),
    condition=failed(VALUE, SAID),
    differences=(
        Difference(f"/tags/{VALUE}", [VALUE, {"a": VALUE, VALUE: 1}], VALUE, "changed in Azure"),
        Difference("/x", 1, None, "changed in Azure"),
    ),
    unverified=(f"/{VALUE}",),
    because={f"/{VALUE}": SAID},
    outside=(OutsideChange(path=f"/tags/{VALUE}", before={"a": VALUE}, now=[VALUE]),),
    resets=(ResetValue(path=f"/tags/{VALUE}", live=VALUE),),
    restores=(OutsideChange(path=f"/tags/{VALUE}", before=VALUE, now=VALUE),),
    attempts=(FailedRequest(at="2026", stage=Stage.ACT, status=400, code=VALUE, message=SAID),),
    reviewed=Reviewed(action=DRIFTED.action, desired=VALUE, live=VALUE, etag=VALUE),
    record=KEPT,
)
PROBLEM = Problem(code="Unknown", message=SAID, hint=SAID, path=f"{VALUE}.yaml", line=1, field=f"spec.{VALUE}")


def test_what_is_reported_is_masked():
    told = mask_report(report(TOLD, problems=(PROBLEM,)), mask)
    one, hidden = told.results[0], "You sent <secret>."
    assert (told.problems[0].message, told.problems[0].hint) == (hidden, hidden)
    assert (one.condition.reason, one.condition.message) == ("<secret>", hidden)
    assert (one.attempts[0].code, one.attempts[0].message) == ("<secret>", hidden)
    assert one.differences[0].live == "<secret>"
    assert one.differences[0].desired == ["<secret>", {"a": "<secret>", VALUE: 1}]
    assert one.differences[1] == TOLD.differences[1]
    assert one.comparison.because == {f"/{VALUE}": hidden}
    assert (one.record.condition.reason, one.record.condition.message) == ("<secret>", hidden)
    (outside,), (reset,) = one.comparison.outside, one.change.resets
    assert (outside.before, outside.now, reset.live) == ({"a": "<secret>"}, ["<secret>"], "<secret>")


def test_what_names_things_stays_complete():
    """A broken id is not an id, and a broken body would be sent again."""
    told = mask_report(report(TOLD, problems=(PROBLEM,)), mask)
    shown = told.results[0]
    for name in ("key", "arm_id", "manifest", "verdict", "action"):
        assert getattr(shown, name) == getattr(TOLD, name), name
    assert replace(shown.change, resets=(), restores=()) == replace(TOLD.change, resets=(), restores=())
    assert shown.comparison.unverified == TOLD.comparison.unverified
    assert shown.differences[0].path == f"/tags/{VALUE}"
    assert replace(shown.record, condition=None) == replace(KEPT, condition=None)
    assert (told.problems[0].path, told.problems[0].field) == (PROBLEM.path, PROBLEM.field)


def test_a_report_without_secrets_is_the_same_report():
    complete = report(TOLD, REFUSED, problems=(PROBLEM,))
    assert mask_report(complete, str) == complete


def texts(value, at=""):
    """Every text in a report, by where it stands."""
    if isinstance(value, str):
        yield at, value
    elif named := members(value):
        for name, member in named.items():
            yield from texts(member, f"{at}.{name}")
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from texts(member, f"{at}.*")
            yield from texts(name, f"{at}.name")
    elif isinstance(value, list | tuple):
        for member in value:
            yield from texts(member, at)


def members(value):
    """What has names inside of a noun; empty for anything else."""
    if is_dataclass(value) or hasattr(value, "__struct_fields__"):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return value._asdict() if hasattr(value, "_asdict") else {}


STAYS = {
    ".problems.path",
    ".problems.field",
    ".results.key.name",
    ".results.arm_id",
    ".results.differences.path",
    ".results.differences.desired.name",
    ".results.comparison.unverified",
    ".results.comparison.because.name",
    ".results.record.key.name",
    ".results.record.arm_id",
    ".results.record.spec.applied.*.*",
    ".results.record.spec.baseline.*.*",
    ".results.record.spec.outside.values.*.*",
    ".results.record.spec.outside.changed",
    ".results.comparison.outside.path",
    ".results.change.resets.path",
    ".results.change.restores.path",
    ".results.change.reviewed.desired",
    ".results.change.reviewed.live",
    ".results.change.reviewed.etag",
}


def test_every_text_is_either_masked_or_stays_for_a_reason():
    told = mask_report(report(TOLD, problems=(PROBLEM,)), mask)
    assert {at for at, text in texts(told) if VALUE in text} == STAYS


def fail(error: Exception, cause: Exception | None = None):
    raise error from cause


def raised(error: Exception) -> Exception:
    try:
        fail(error)
    except Exception as caught:  # noqa: BLE001 - any, to have its traceback
        return caught


class StubbornError(Exception):
    """One that makes its text again each time."""

    def __str__(self):
        return SAID


FAULTS = [
    (KeyError(VALUE), KeyError, "arguments"),
    (ValueError({"deep": [VALUE]}, (VALUE,)), ValueError, "values inside of arguments"),
    (OSError(5, SAID, f"/{VALUE}"), OSError, "what the language keeps apart"),
    (UnicodeDecodeError("utf-8", VALUE.encode(), 0, 1, SAID), UnicodeDecodeError, "bytes"),
    (SyntaxError(SAID), SyntaxError, "its message"),
    (StubbornError(), RuntimeError, "one that cannot be changed has another in its place"),
    (ExceptionGroup(SAID, [KeyError(VALUE)]), ExceptionGroup, "a group, whose message cannot be changed"),
    (ExceptionGroup("Two", [StubbornError(), KeyError(1)]), ExceptionGroup, "its members"),
]


@pytest.mark.parametrize(("fault", "kind", "why"), FAULTS, ids=[row[-1] for row in FAULTS])
def test_a_fault_reveals_no_secret(fault, kind, why):
    found = mask_exception(raised(fault), mask)
    assert type(found) is kind, why
    assert VALUE not in f"{found} {found!r} {found.args} {vars(found)}", why
    assert "<secret>" in f"{found!r}{getattr(found, 'exceptions', '')!r}", why
    assert found.__traceback__ is not None, "where it was raised"


def test_a_fault_without_secrets_is_the_same_object_with_the_same_past():
    try:
        try:
            fail(KeyError("x"))
        except KeyError as error:
            fail(ValueError("y"), error)
    except ValueError as error:
        before = (error.__cause__, error.__context__, error.__suppress_context__)
        assert mask_exception(error, mask) is error
        assert (error.__cause__, error.__context__, error.__suppress_context__) == before


def test_faults_that_lead_to_each_other_come_to_an_end():
    one, other = KeyError(VALUE), KeyError(VALUE)
    one.__context__, other.__context__ = other, one
    assert mask_exception(one, mask).args == ("<secret>",)
    assert other.args == ("<secret>",)


def test_values_that_hold_none_keep_their_types():
    value = {"a": [1, 2.5, True, None], "b": ("x",)}
    assert mask_value(value, mask) == value
    assert result(key("K", "n"), Verdict.IN_SYNC).ending.fault is None
