"""An audit as text, JSON and a page: hostile texts stay texts, and names of people stay where they may be."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import pytest

from gitsync.agent.attribution.change import RecordedChange, Verb
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, Who
from gitsync.settings.logging import escape_controls
from gitsync.workflows.audit.audit import Audit, AuditedOperation, Origin, Run
from gitsync.workflows.audit.audit_page import render
from gitsync.workflows.audit.audit_report import AuditReport, build_document, format_lines
from tests.support.builders import group_id
from tests.support.hostile_texts import HOSTILE

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def make_report(name, author=AuthorKind.PERSON):
    arm_id = f"{group_id(name)}/providers/Microsoft.KeyVault/vaults/{name}"
    said = Attribution(author=author, name=name, label=name, client=name, operation=name, correlation_id=name)
    change = RecordedChange(arm_id=arm_id.casefold(), at=NOW, verb=Verb.WRITE, said=said)
    run = Run(commit=name, revision=name, time=name)
    operations = [
        AuditedOperation(
            arm_id=ArmId(arm_id), change=change, origin=origin, run=run if origin is Origin.RUN else None, undone=run
        )
        for origin in Origin
    ]
    audit = Audit(since=NOW, until=NOW, operations=tuple(operations), gaps=(name,))
    return AuditReport(audit=audit, who=Who.AUTO, resources=1, runs=1, requests=1)


FORMS = {
    "text": lambda report: "\n".join(map(escape_controls, format_lines(report, names=True))),
    "page": partial(render, names=True),
    "json": lambda report: json.dumps(build_document(report, names=True)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("author", [AuthorKind.PERSON, AuthorKind.APPLICATION, AuthorKind.POLICY])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text(text, author, form):
    calm, shown = (FORMS[form](make_report(name, author)) for name in ("rob", HOSTILE[text]))
    shown.encode()
    assert not set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown))
    if text != "blanks":
        assert len(shown.splitlines()) == len(calm.splitlines()), "no line begins or ends with a name"
    if form == "page":
        assert not re.search(r"<script|<b>rob|<a [^>]*evil", re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL))


def test_names_of_people_are_in_a_text_where_they_may():
    report = make_report("rob@contoso.com")
    named, nameless = ("\n".join(format_lines(report, names=names)) for names in (True, False))
    assert "by rob@contoso.com" in named
    assert "by a person" in nameless


@pytest.mark.parametrize(
    ("origins", "gaps", "code"),
    [
        ([Origin.RUN, Origin.OURS, Origin.UNKNOWN], (), 0),
        ([Origin.OTHER], (), 4),
        ([Origin.OTHER], ("a log",), 1),
    ],
    ids=["nothing is certain to be another's", "another's", "more may be another's"],
)
def test_the_exit_code_is_that_of_others_alone(origins, gaps, code):
    report = make_report("rob")
    kept = tuple(operation for operation in report.audit.operations if operation.origin in origins)
    assert replace(report, audit=replace(report.audit, operations=kept, gaps=gaps)).exit_code == code
