"""Who changed resources in Azure: the words, where names of people stand and where not, and names that attack."""

import json
import re
from dataclasses import replace
from functools import cache
from html import unescape
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from gitsync.model.attribution import Attribution, AuthorKind, Who
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report import json as json_report
from gitsync.report import junit, markdown, metrics, pipelines, sarif, summary, text, wording
from gitsync.report.author_texts import format_change, list_authors, list_busy_authors, list_doubts
from gitsync.report.html import page
from gitsync.report.masked import mask_report
from tests.report.golden_runs import (
    EVE,
    LOGS,
    NO_RIGHT,
    NOTHING_YET,
    OTHER_RUN,
    PIPELINE,
    POLICY,
    ROB,
    RUNS,
    by,
    drift,
    plan,
)
from tests.report.report_builders import RUN_END, key, record
from tests.report.test_report_json import SCHEMA
from tests.support.hostile_texts import HOSTILE

DRIFT = RUNS["drift"]
GUID = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
AT = ", 2026-11-23 22:41 UTC"
ID = " (correlation 907d2bd4-1b8e-4ae5-bf6d-33b12cf8f4c9)"

WORDS = [
    (ROB, f"Changed by rob@contoso.com with Azure Portal{AT}{ID}", "a person and the client"),
    (replace(ROB, client=GUID), f"Changed by rob@contoso.com with the client {GUID}{AT}{ID}", "an id is no name"),
    (replace(ROB, client=""), f"Changed by rob@contoso.com{AT}{ID}", "an unknown client needs no word"),
    (replace(ROB, name=""), f"Changed by a person with Azure Portal{AT}{ID}", "a person whom Azure does not name"),
    (replace(ROB, at="", correlation_id=""), "Changed by rob@contoso.com with Azure Portal", "nothing is made up"),
    (replace(ROB, at="soon"), f"Changed by rob@contoso.com with Azure Portal{ID}", "a time that is none"),
    (
        replace(ROB, operation="Microsoft.Storage/storageAccounts/delete"),
        f"Deleted by rob@contoso.com with Azure Portal{AT}{ID}",
        "what is gone was deleted",
    ),
    (
        PIPELINE,
        f"Changed by the application Contoso Deploy ({GUID}) with Terraform{AT}{ID}",
        "an application where its name may be read",
    ),
    (replace(PIPELINE, label="", client=""), f"Changed by the application {GUID}{AT}{ID}", "and where not"),
    (by("application"), f"Changed by an application{AT}{ID}", "one that Azure does not name"),
    (POLICY, f"Changed by the policy assignment tls, 2026-11-23 23:10 UTC{ID}", "the name of an id"),
    (by("policy"), f"Changed by a policy{AT}{ID}", "a policy that Azure does not name"),
    (by("azure", correlation_id=str(UUID(int=0))), f"Changed by Azure itself{AT}", "in the background"),
    (OTHER_RUN, f"Changed by gitsync (commit 6d25f14b60cd){AT}", "another run"),
    (by("gitsync"), f"Changed by gitsync{AT}{ID}", "another run, of an unknown commit"),
    (by("unknown"), f"Changed by an author that Azure has not named{AT}{ID}", "a row without an actor"),
]


@pytest.mark.parametrize(("made", "line", "why"), WORDS, ids=[row[-1] for row in WORDS])
def test_a_change_is_one_line(made, line, why):
    assert format_change(made, names=True) == line, why


def test_the_name_of_a_person_is_left_out_unless_asked_for():
    assert format_change(ROB) == f"Changed by a person with Azure Portal{AT}{ID}"
    assert format_change(PIPELINE) == format_change(PIPELINE, names=True), "an application is no person"
    assert "rob" not in repr(replace(ROB, label="Rob Roe"))
    unexpected = replace(PIPELINE, name="rob@contoso.com", label="Rob", client="app of rob@contoso.com")
    assert format_change(unexpected) == f"Changed by an application{AT}{ID}", "whatever Azure calls it"


TAGS = tuple(Difference(f"/tags/{name}", "a", "b", "changed in Azure") for name in "abcde")
PATHS = tuple(tag.path for tag in TAGS)
FIELDS = [
    ((replace(ROB, paths=PATHS),), [""], "who changed all needs no fields"),
    ((replace(ROB, paths=(*PATHS, "/tags/elsewhere")),), [""], "and may have changed what is no difference"),
    ((ROB,), [""], "Azure does not say which"),
    (
        (replace(EVE, paths=PATHS[:1]), replace(ROB, paths=PATHS[1:3])),
        [": /tags/a", ": /tags/b, /tags/c"],
        "two people",
    ),
    ((replace(ROB, paths=PATHS[:4]),), [": /tags/a, /tags/b, /tags/c and 1 more"], "of the fifth, Azure knows nothing"),
]


@pytest.mark.parametrize(("changes", "fields", "why"), FIELDS, ids=[row[-1] for row in FIELDS])
def test_the_fields_are_named_where_it_makes_a_difference(changes, fields, why):
    lines = list_authors(replace(LOGS, differences=TAGS, changed_by=changes))
    assert [re.sub(r"^.* UTC| \(correlation.*", "", line) for line in lines] == fields, why


def test_many_changes_of_one_resource_are_cut_and_counted():
    lines = list_authors(replace(LOGS, changed_by=(ROB,) * 9))
    assert len(lines) == 6
    assert lines[-1] == "… and 4 earlier changes; report.json has all."


def test_authors_of_many_resources_have_a_line_each_first_who_changed_most():
    early, late = replace(EVE, at="2026-11-22T08:00:00Z"), replace(EVE, at="2026-11-23T23:05:00Z")
    results = [
        *(
            drift("A", f"rob-{n}", replace(ROB, at=f"2026-11-23T22:4{n}:00Z", operation=f"m/t{n}/write"))
            for n in range(3)
        ),
        *(drift("A", f"gone-{n}", replace(ROB, operation=f"m/t{n}/delete")) for n in range(3)),
        *(drift("A", f"eve-{n}", early, late) for n in range(4)),
        *(drift("A", f"few-{n}", PIPELINE) for n in range(2)),
        *(drift("A", f"asked-{n}", NO_RIGHT) for n in range(9)),
        *(drift("A", f"nameless-{n}", by("unknown"), by("person"), by("application")) for n in range(9)),
    ]
    assert list_busy_authors(plan(*results), names=True) == [
        "Changed by eve@contoso.com with CLI: 4 resources, 2026-11-22 08:00 to 2026-11-23 23:05 UTC.",
        "Changed by rob@contoso.com with Azure Portal: 3 resources, 2026-11-23 22:40 to 22:42 UTC.",
        "Deleted by rob@contoso.com with Azure Portal: 3 resources, 2026-11-23 22:41 UTC.",
    ]
    hidden = list_busy_authors(plan(*results))
    assert [line.partition(":")[0] for line in hidden] == [
        "Changed by a person with CLI",
        "Changed by a person with Azure Portal",
        "Deleted by a person with Azure Portal",
    ]


DOUBTS = [
    *(drift("A", f"a-{n}", NO_RIGHT) for n in range(100)),
    drift("A", "b", NOTHING_YET),
    drift("A", "c", ROB, NO_RIGHT, NO_RIGHT),
]


def test_a_doubt_of_many_resources_is_reported_once_with_their_number():
    value = plan(*DOUBTS)
    assert [row.text for row in list_doubts(value)] == [
        f"Who changed it is not known (101 resources): {NO_RIGHT.doubt}",
        f"Who changed it is not known (A/b): {NOTHING_YET.doubt}",
    ]
    forms = (text.render(value), markdown.render(value), page.render(value), junit.render(value), sarif.render(value))
    for shown in forms:
        assert unescape(shown).replace("<wbr/>", "").count(NO_RIGHT.doubt) == 1
    assert NO_RIGHT.doubt not in "\n".join(pipelines.annotate_github(value))
    assert "  A/a-0, A/a-1, " in text.render(value, verbose=True), "-v names them"


@given(st.lists(st.lists(st.sampled_from([ROB, EVE, NO_RIGHT, NOTHING_YET]), max_size=4), max_size=6))
def test_every_change_and_every_doubt_is_reported(found):
    results = [drift("A", str(number), *changes) for number, changes in enumerate(found)]
    doubts = {(author.doubt, of.key) for of in results for author in of.changed_by if author.doubt}
    assert {(row.reason, of) for row in list_doubts(plan(*results)) for of in row.keys} == doubts
    for of in results:
        assert len(list_authors(of)) == sum(not author.doubt for author in of.changed_by)


def test_json_has_every_change_in_the_form_of_its_schema():
    document = json.loads(json_report.render(DRIFT, names=True))
    Draft202012Validator(SCHEMA).validate(document)
    found = {resource["name"]: resource.get("changedBy") for resource in document["resources"]}
    assert found["core"] is None, "nothing was asked about what is in sync"
    assert found["hub"][1] == {
        "author": "person",
        "name": "rob@contoso.com",
        "label": "",
        "client": "Azure Portal",
        "at": "2026-11-23T22:41:07Z",
        "operation": "microsoft.storage/storageaccounts/write",
        "correlationId": "907d2bd4-1b8e-4ae5-bf6d-33b12cf8f4c9",
        "commit": "",
        "paths": ["/properties/dhcpOptions/dnsServers"],
        "source": "resource-graph",
        "doubt": "",
    }
    assert found["early"][0] | {"doubt": ""} == found["early"][0] | {"author": "unknown", "at": None, "doubt": ""}


PERSON = by(
    "person", "hunted.person@contoso.com", label="Hunted P. Person", client="Azure Portal", operation="m/t/write"
)
GONE = replace(LOGS, key=key("Vault", "gone"), verdict=Verdict.MISSING, action=Action.CREATE, differences=())
HUNTED = plan(
    *(replace(of, key=key("A", f"{n}"), changed_by=(PERSON,)) for n, of in enumerate([LOGS, LOGS, LOGS, GONE]))
)

SHOWN = [
    ("the terminal", lambda value: text.render(value, names=True), True, True),
    ("-v in the terminal", lambda value: text.render(value, names=True, verbose=True), True, True),
    ("the page", lambda value: page.render(value, names=True), True, True),
    ("report.json of --report", lambda value: json_report.render(value, names=True), True, True),
    ("Markdown and the job summary", markdown.render, False, True),
    ("report.json of the status", json_report.render, False, False),
    ("the log of a job", text.render, False, False),
    ("SARIF", sarif.render, False, False),
    ("JUnit", junit.render, False, False),
    ("annotations of GitHub", lambda value: "\n".join(pipelines.annotate_github(value)), False, False),
    ("annotations of Azure", lambda value: "\n".join(pipelines.annotate_azure_pipelines(value)), False, False),
    ("outputs", lambda value: f"{pipelines.format_dotenv(value)}{pipelines.format_github_outputs(value)}", False, False),
    ("the subject of a commit", wording.format_subject, False, False),
    ("SUMMARY.md", lambda value: summary.render([record(result.key) for result in value.results], revision=None), False, False),
    ("metrics", lambda value: metrics.render(replace(RUN_END, report=value), ""), False, False),
    ("a representation", repr, False, False),
]  # fmt: skip


@pytest.mark.parametrize(("form", "render", "by_default", "with_names"), SHOWN, ids=[row[0] for row in SHOWN])
@pytest.mark.parametrize("command", ["plan", "sync"])
def test_names_of_people_are_shown_where_they_may_be(form, render, by_default, with_names, command):
    for who, may in ((Who.AUTO, by_default), (Who.NAMES, with_names)):
        shown = unescape(render(replace(HUNTED, command=command, who=who))).casefold().replace("<wbr/>", "")
        assert ("hunted.person@contoso.com" in shown) is may, (form, who)
        assert may or "hunted" not in shown


FORMS = {
    "text": lambda value: text.render(value, names=True, verbose=True),
    "markdown": lambda value: markdown.render(replace(value, who=Who.NAMES)),
    "page": lambda value: page.render(value, names=True),
    "json": lambda value: json_report.render(value, names=True),
    "sarif": sarif.render,
    "junit": junit.render,
    "github": lambda value: "\n".join(pipelines.annotate_github(value)),
    "azure": lambda value: "\n".join(pipelines.annotate_azure_pipelines(value)),
}


def attack(name):
    """Make a plan in which every text of an attribution is hostile: of a person, an application, a policy, a doubt."""
    more = {"client": name, "at": name, "operation": f"{name}/delete", "correlation_id": name}
    authors = [by(kind, name, label=name if kind != "person" else "", **more) for kind in AuthorKind]
    made = [replace(author, commit="", paths=("/tags/env",)) for author in authors]
    results = [drift("A", f"n-{number}", *made) for number in range(3)]
    return plan(*results, drift("A", "doubt", Attribution(doubt=f"Azure says: {name}")))


@cache
def render_calm(form):
    return FORMS[form](attack("rob"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_is_text(kind, form):
    name = HOSTILE[kind]
    calm, shown = render_calm(form), FORMS[form](attack(name))
    shown.encode()  # also without half characters
    assert not set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown))
    if kind != "blanks" and form != "markdown":
        assert len(shown.splitlines()) == len(calm.splitlines()), "no line begins or ends with a name"
    assert len(shown) < len(calm) + 100 * 120 + 1000, "a name and a doubt are cut"
    commands = [line for line in shown.splitlines() if re.match(r"\s*::|##", line)]
    assert len(commands) == sum(line.startswith(("::", "##")) for line in calm.splitlines())
    if form == "markdown":
        plain = re.sub(r"<code>.*?</code>", "", shown.replace("<!-- gitsync -->", ""))
        assert not re.search(r"<script|<b>|\]\(|@\w|https?://|<!--|^::", plain.partition("#### ")[2], re.MULTILINE)
    if form == "page":
        inside = re.sub(r"<(style|script)>.*?</\1>", "", shown, flags=re.DOTALL)
        assert not re.search(r"<script>alert|<b>rob|<a [^>]*evil", inside)
    if form in {"json", "sarif"}:
        json.loads(shown)


def test_texts_of_attributions_are_masked():
    leaking = replace(ROB, name="hunter2", client="hunter2", correlation_id="hunter2", operation="hunter2/write")
    value = plan(*(drift("A", str(n), leaking, replace(PIPELINE, label="hunter2")) for n in range(3)))
    masked = mask_report(
        plan(*value.results, drift("A", "x", Attribution(doubt="hunter2"))), lambda t: t.replace("hunter2", "***")
    )
    for shown in (
        json_report.render(masked, names=True),
        text.render(masked, names=True),
        page.render(masked, names=True),
    ):
        assert "hunter2" not in shown
        assert "***" in shown
