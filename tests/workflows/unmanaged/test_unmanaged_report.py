"""What git does not have, as text, Markdown and JSON: hostile names, and what people may read."""

import json
import re
from dataclasses import replace

import pytest

from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind
from gitsync.settings.logging import escape_controls
from gitsync.workflows.unmanaged.unmanaged_report import (
    BY_LISTS,
    UnmanagedReport,
    build_document,
    format_lines,
    format_markdown,
)
from gitsync.workflows.unmanaged.unmanaged_search import Estate, Stray
from tests.support.builders import group_id
from tests.support.hostile_texts import HOSTILE


def make_report(name, kind="Vault"):
    arm_id = f"{group_id(name)}/providers/Microsoft.KeyVault/vaults/{name}"
    stray = Stray(arm_id=ArmId(arm_id), arm_type=f"Microsoft.KeyVault/{name}", kind=kind, body={})
    author = Attribution(author=AuthorKind.PERSON, name=f"{name}@contoso.com", client=name, at="2026-03-01T12:00:00Z")
    return UnmanagedReport(
        source=BY_LISTS,
        scopes={"s": (name,)},
        estate=Estate(strays=(stray,), managed={name: 1}, gaps=(name,), unread=(name,)),
        creations={ArmId(arm_id): author},
        doubts=(name,),
        without_id=(name,),
        requests=1,
    )


FORMS = {
    "text": lambda report: "\n".join(map(escape_controls, format_lines(report, names=True))),
    "markdown": lambda report: format_markdown(report, names=True),
    "json": lambda report: json.dumps(build_document(report, names=True)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["", "Vault"], ids=["a type without a kind", "a kind"])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text(text, kind, form):
    calm, shown = (FORMS[form](make_report(name, kind)) for name in ("rob", HOSTILE[text]))
    shown.encode()
    assert not set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown))
    assert len(shown.splitlines()) == len(calm.splitlines()), "no line begins or ends with a name"
    if form == "markdown":
        plain = re.sub(r"<code>.*?</code>|^```.*?^```", "", shown, flags=re.DOTALL | re.MULTILINE)
        assert not re.search(r"<script|<b>|\]\(|@\w|https?://|<!--|^::", plain, re.MULTILINE)
    if form == "json":
        json.loads(shown)


@pytest.mark.parametrize("form", [format_lines, format_markdown])
def test_names_of_people_are_shown_where_they_may(form):
    named, nameless = ("".join(form(make_report("rob"), names=names)) for names in (True, False))
    assert ("rob@contoso.com" in named.replace("&#64;", "@"), "a person" in nameless) == (True, True)
    assert "contoso" not in nameless


@pytest.mark.parametrize(
    ("limit", "code", "why"),
    [
        (None, ExitCode.FINE, "no limit"),
        (2, ExitCode.FINE, "fewer"),
        (1, ExitCode.FINE, "as many"),
        (0, ExitCode.DRIFT, "one more, and none is allowed"),
    ],
)
def test_a_limit_decides_about_the_exit_code(limit, code, why):
    report = make_report("rob")
    found = replace(report, estate=replace(report.estate, gaps=()), limit=limit)
    assert found.exit_code is code, why
    assert replace(report, limit=limit).exit_code is ExitCode.FAILED, f"what was not read may be more: {why}"


def test_the_share_is_not_rounded_up():
    report = make_report("rob")
    estate = Estate(strays=report.estate.strays, managed={"Vault": 999})
    line = [
        *format_lines(
            UnmanagedReport(
                source=BY_LISTS, scopes={"s": ("g",)}, estate=estate, creations=report.creations, requests=7
            ),
            names=True,
        )
    ][-1]
    assert line == "1 resource not in git. Git has 999 of 1000 resources in 1 resource group (99 %); 7 requests."
