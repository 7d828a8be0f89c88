"""Values that git does not set, in every form of a report: changes outside of git, and what a write may reset."""

import json
import re
from dataclasses import replace
from datetime import date
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.notifications.message import find_state, make_message
from gitsync.errors import ExitCode
from gitsync.model.hold import HeldUntil
from gitsync.model.outside import OutsideChange, RecordedOutside, ResetValue
from gitsync.model.problem import SourceLocation
from gitsync.model.result import ManifestField
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Action, Verdict, Written
from gitsync.planning.status.exit_code import decide_exit_code
from gitsync.report import markdown, pipelines, sarif, summary, text
from gitsync.report.document import read_report
from gitsync.report.headline import format_headline
from gitsync.report.hidden_people import leave_out_people
from gitsync.report.html import page
from gitsync.report.json import build_document, render
from gitsync.report.junit import render as render_junit
from gitsync.report.metrics import render as render_metrics
from gitsync.report.nextsteps import list_next_steps
from gitsync.report.outside_texts import format_resets
from gitsync.report.records import describe_record, list_outside_fields
from gitsync.report.shard_reports import join_reports
from tests.report.golden_runs import LOGS, OPENED, REACH, RESETTING, from_azure, plan, sync, tag
from tests.report.report_builders import IN_SYNC, RECORDS, RUN_END, record
from tests.support.hostile_texts import HOSTILE
from tests.support.parts import change

OWNER = OutsideChange(path="/tags/owner", before=None, now="rob@contoso.com")
WRITTEN = change(RESETTING, condition=IN_SYNC.condition, written=Written.ACCEPTED)
FORMS = {
    "text": text.render,
    "markdown": markdown.render,
    "page": lambda value: unescape(re.sub(r"<wbr/>|</?mark>", "", page.render(value))),
    "json": render,
    "sarif": lambda value: json.dumps(sarif.build_log(value), ensure_ascii=False),
    "junit": lambda value: unescape(render_junit(value)),
    "github": lambda value: "\n".join(pipelines.annotate_github(value)),
    "azure": lambda value: "\n".join(pipelines.annotate_azure_pipelines(value)),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_names_the_field_the_values_and_why_it_weakens(form):
    shown = FORMS[form](plan(IN_SYNC, OPENED))
    for part in ("spec.publicNetworkAccess", "Disabled", "Enabled", REACH, "a person"):
        assert part in shown, part
    assert "3 changed outside of git" in shown or form == "azure", "which logs no headline"
    assert "rob@contoso.com" not in shown


@pytest.mark.parametrize("form", [form for form in FORMS if form != "azure"])  # which logs no notes
def test_every_form_shows_a_change_that_weakens_nothing(form):
    shown = FORMS[form](plan(IN_SYNC, from_azure("x", replace(OWNER, now="ops"))))
    for part in ("1 changed outside of git", "/tags/owner", "ops"):
        assert part in shown, part


@pytest.mark.parametrize("form", FORMS)
def test_every_form_lists_drift_before_it(form):
    shown = FORMS[form](plan(OPENED, LOGS))
    shown = shown[shown.index("minimumTlsVersion") :] if form != "json" else shown
    assert shown.index("minimumTlsVersion") < shown.index("publicNetworkAccess")


@pytest.mark.parametrize("form", FORMS)
def test_every_form_lists_what_weakens_the_estate_first(form):
    harmless = from_azure("a", replace(OWNER, now="harmless"))
    turned = change(OPENED, outside=tuple(reversed(OPENED.comparison.outside)))
    shown = FORMS[form](plan(harmless, turned))
    if form in {"text", "markdown", "sarif"}:
        assert shown.index("Enabled") < shown.index("a person") < shown.index("harmless")
    elif form == "json":
        paths = [row["path"] for row in json.loads(shown)["resources"][1]["outside"]]
        assert paths == ["/properties/publicNetworkAccess", "/properties/customKeys", "/tags/owner"]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "json"])
def test_every_form_names_what_a_write_may_reset(form):
    shown = " ".join(re.sub(r"<[^>]+>", "", FORMS[form](plan(RESETTING))).split())
    reset = "this write may reset: 2 networkAcls.virtualNetworkRules, publicNetworkAccess Disabled, tags.owner"
    assert reset in shown


def resetting(path, live, name="", **more):
    fields = {path: ManifestField(name, SourceLocation("a.yaml", 1))} if name else {}
    return from_azure("x", action=Action.UPDATE, resets=(ResetValue(path=path, live=live, **more),), fields=fields)


NAMED = [
    ("/properties/publicNetworkAccess", "Disabled", "", 0, "publicNetworkAccess Disabled", "a word says it all"),
    (
        "/properties/publicNetworkAccess",
        "Disabled",
        "spec.publicNetworkAccess",
        0,
        "publicNetworkAccess Disabled",
        "ASO",
    ),
    ("/properties/a/b", True, "spec.body.properties.a.b", 0, "a.b true", "an AzureResource"),
    ("/sku/name", "S1", "spec.body.sku.name", 0, "sku.name S1", "and beside its properties"),
    ("/properties/days", 7, "", 0, "days 7", "a number"),
    ("/tags/owner", "rob", "spec.tags.owner", 0, "tags.owner", "the name of a tag is enough"),
    ("/properties/rules", [{}, {}], "spec.rules", 2, "2 rules", "a list is counted"),
    ("/properties/rules/0/name", "x", "", 0, "rules[0].name x", "a member of an entry"),
    ("/properties/text", "two words", "", 0, "text", "a text is left out"),
    ("/properties/text", "x" * 41, "", 0, "text", "so is a long word"),
    ("/properties/key", MASKED, "", 0, "key", "and a secret"),
    ("/properties/object", {"a": 1}, "", 0, "object", "and what has members"),
    ("/properties/evil", "\x1b[2J", "", 0, "evil \\x1b[2J", "no value moves a cursor"),
]


@pytest.mark.parametrize(("path", "live", "name", "entries", "expected", "why"), NAMED, ids=[row[-1] for row in NAMED])
def test_a_value_that_a_write_may_reset_is_named_in_a_few_words(path, live, name, entries, expected, why):
    result = resetting(path, live, name, entries=entries)
    assert format_resets(result, writes=False).replace("\\u001b", "\\x1b") == f"this write may reset: {expected}", why


def test_of_many_values_only_verbose_output_names_all():
    values = tuple(ResetValue(path=f"/properties/p{number}", live=number) for number in range(8))
    result = from_azure("x", action=Action.UPDATE, resets=values)
    assert format_resets(result, writes=False) == "this write may reset: p0 0, p1 1, p2 2, p3 3, p4 4 and 3 more"
    assert format_resets(result, writes=False, everything=True).endswith("p4 4, p5 5, p6 6, p7 7")


def test_a_value_without_a_path_stands_for_others():
    values = (ResetValue(path="/properties/a", live=1), ResetValue(path="", live=None, entries=4))
    result = from_azure("x", action=Action.UPDATE, verdict=Verdict.ADOPT, resets=values)
    for everything in (False, True):
        assert format_resets(result, writes=False, everything=everything) == "this write may reset: a 1 and 4 more"
    assert format_headline(plan(result)) == "A sync would update 1; 5 values may be reset"
    assert pipelines.list_outputs(plan(result))["resets"] == "5"
    (shown,) = build_document(plan(result))["resources"]
    assert shown["resets"][1] == {"path": "", "field": "", "live": None, "entries": 4}
    assert render(read_report(render(plan(result)).encode(), "b")) == render(plan(result))


def test_many_writes_that_reset_something_are_a_count():
    results = [
        from_azure(f"x{number}", verdict=Verdict.PENDING, action=Action.UPDATE, resets=RESETTING.change.resets)
        for number in range(11)
    ]
    shown = text.render(plan(*results))
    assert "11 writes may reset 33 values in Azure; -v lists them" in shown
    assert "this write" not in shown
    verbose = text.render(plan(*results), verbose=True)
    assert verbose.count("this write may reset:") == 11
    assert "-v lists them" not in verbose
    comment = markdown.render(plan(*results))
    assert "11 writes may reset 33 values in Azure: the page" in comment
    assert "this write" not in comment
    assert page.render(plan(*results)).count("this write may reset:") == 11


@pytest.mark.parametrize(
    ("value", "headline", "why"),
    [
        (plan(OPENED), "A sync would change nothing; 3 changed outside of git", "changes are counted, not resources"),
        (plan(RESETTING), "A sync would update 1; 3 values may be reset; 1 changed outside of git", "a plan may reset"),
        (plan(change(RESETTING, outside=(), resets=RESETTING.change.resets[:1])),
            "A sync would update 1; 1 value may be reset", "one"),
        (sync(WRITTEN), "Updated 1; 3 values may have been reset; 1 changed outside of git", "a sync did"),
        (sync(change(WRITTEN, action=Action.NONE, written=Written.NOTHING)), "Nothing changed; 1 changed outside of git",
            "one that wrote nothing has reset nothing"),
        (plan(change(RESETTING, outside=(), action=Action.NONE, verdict=Verdict.HELD)), "A sync would change nothing",
            "a hold keeps it from the write"),
        (plan(IN_SYNC), "A sync would change nothing", "silence"),
    ],
)  # fmt: skip
def test_the_headline_counts_both(value, headline, why):
    assert format_headline(value) == headline, why
    assert build_document(value)["headline"] == headline
    assert format_headline(read_report(render(value).encode(), "b")) == headline, "JSON keeps what it needs"


def test_changes_that_are_alike_fold_and_others_do_not():
    other = change(tag(12), outside=(OutsideChange(path="/tags/cost", before=None, now="4712"),))
    shown = text.render(plan(*map(tag, range(11)), other))
    assert "11 StorageAccount" in shown
    assert shown.count("/tags/cost") == 2


@pytest.mark.parametrize("form", ["text", "markdown", "page", "sarif", "junit"])
def test_of_a_list_only_the_elements_that_differ_are_shown(form):
    servers = [f"10.0.0.{number}" for number in range(40)]
    moved = OutsideChange(
        path="/properties/servers", before=servers, now=[*servers[:7], "10.9.0.7", *servers[8:]], weakens=REACH
    )
    shown = FORMS[form](plan(from_azure("x", moved)))
    assert "1 changed outside of git" in shown
    assert ("10.0.0.7" in shown, "10.9.0.7" in shown, "10.0.0.12" in shown) == (True, True, False)
    assert REACH in shown


def test_the_verdict_of_the_resource_stays():
    shown = json.loads(render(plan(OPENED)))
    assert (shown["summary"], shown["outcomes"]["unchanged"]) == ({"in-sync": 1}, 1)
    assert "1 in-sync" in text.render(plan(OPENED))


def test_json_has_all_of_both():
    (resource,) = build_document(plan(RESETTING))["resources"]
    assert resource["outside"] == [
        {
            "path": "/tags/owner",
            "field": "spec.tags.owner",
            "before": "ops",
            "now": None,
            "weakens": "",
            "restorable": True,
        }
    ]
    assert resource["resets"][:2] == [
        {
            "path": "/properties/networkAcls/virtualNetworkRules",
            "field": "spec.networkAcls.virtualNetworkRules",
            "live": [{"id": "a"}, {"id": "b"}],
            "entries": 2,
        },
        {"path": "/properties/publicNetworkAccess", "field": "spec.publicNetworkAccess", "live": "Disabled"},
    ]
    (silent,) = build_document(plan(IN_SYNC))["resources"]
    assert not {"outside", "resets"} & silent.keys()


def test_reports_of_shards_are_joined_with_both():
    parts = [read_report(render(plan(result)).encode(), "b") for result in (OPENED, RESETTING)]
    joined = join_reports(parts)
    assert format_headline(joined) == "A sync would update 1; 3 values may be reset; 4 changed outside of git"
    assert "spec.publicNetworkAccess" in text.render(joined)
    assert "tags.owner" in text.render(joined)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("path", 1), ("field", None), ("weakens", None), ("restorable", "yes"),
    ],
)  # fmt: skip
def test_json_of_a_worker_that_gitsync_did_not_write_is_refused(member, value):
    document = build_document(plan(OPENED))
    document["resources"][0]["outside"][0][member] = value
    with pytest.raises(Exception, match=re.escape(f"resources[0].outside[0].{member} ")):
        read_report(json.dumps(document).encode(), "b")


def test_sarif_has_a_rule_whose_level_is_higher_where_the_estate_is_weaker():
    run = sarif.build_log(plan(OPENED))["runs"][0]
    assert [(found["ruleId"], found["level"]) for found in run["results"]] == [
        ("outside", "warning"),
        ("outside", "note"),
    ]
    (rule,) = run["tool"]["driver"]["rules"]
    assert (rule["id"], rule["defaultConfiguration"]["level"]) == ("outside", "warning")
    assert "gitsync accept" in rule["help"]["text"]
    prints = {found["partialFingerprints"]["gitsync/v1"] for found in run["results"]}
    assert len(prints) == 2


def test_junit_shows_it_without_a_failure():
    shown = render_junit(plan(OPENED))
    assert 'failures="0"' in shown
    assert "changed outside of git, and weakens the estate" in shown


def test_what_a_revert_restores_is_marked():
    first, *_ = OPENED.comparison.outside
    reverted = plan(change(OPENED, action=Action.UPDATE, restores=(first,)))
    assert '~ spec.publicNetworkAccess: "Disabled" → "Enabled" (this write restores it)' in text.render(reverted)
    assert text.render(reverted).count("restores it") == 1
    (resource,) = build_document(reverted)["resources"]
    assert [entry.get("restored") for entry in resource["outside"]] == [True, None, None]
    assert render(read_report(render(reverted).encode(), "b")) == render(reverted)


def test_people_in_outside_values_are_left_out():
    result = change(
        OPENED, resets=(ResetValue(path="/properties/contact", live=["rob@contoso.com"]),), action=Action.UPDATE
    )
    (shown,) = leave_out_people(plan(result)).results
    assert "contoso.com" not in repr((shown.comparison.outside, shown.change.resets))
    assert leave_out_people(plan(IN_SYNC)).results[0] is IN_SYNC


def test_metrics_count_them():
    shown = render_metrics(replace(RUN_END, report=plan(OPENED, RESETTING)))
    assert re.search(r'gitsync_run_outside_changes\{[^}]*weakens="true"\} 1.0', shown)
    assert re.search(r'gitsync_run_outside_changes\{[^}]*weakens="false"\} 3.0', shown)


def test_outputs_of_a_step_count_both():
    outputs = pipelines.list_outputs(plan(OPENED, RESETTING))
    assert (outputs["outside"], outputs["resets"], outputs["drift"]) == ("4", "3", "1")


EXITS = [
    (("outside",), OPENED, False, ExitCode.FAILED, "it is named"),
    (("drift",), OPENED, False, ExitCode.FINE, "it is no drift"),
    (("outside",), IN_SYNC, False, ExitCode.FINE, "there is none"),
    ((), OPENED, True, ExitCode.FINE, "it is no change to make"),
    (("outside",), OPENED, True, ExitCode.FAILED, "what is named takes precedence"),
    (("in-sync",), OPENED, False, ExitCode.FAILED, "the verdict stays"),
    (("outside",), change(OPENED, hold=HeldUntil(date(2030, 1, 1), "x")), False, ExitCode.FINE, "a hold holds"),
]


@pytest.mark.parametrize(("fail_on", "result", "detailed", "code", "why"), EXITS, ids=[row[-1] for row in EXITS])
def test_the_exit_code(fail_on, result, detailed, code, why):
    assert decide_exit_code([result], [], writes=False, detailed_exitcode=detailed, fail_on=fail_on) is code, why


def find(*results):
    return find_state(plan(*results), {}, date(2026, 1, 1))


def test_a_notification_is_sent_when_one_appears_and_when_one_more_does():
    one, two = find(from_azure("x", OWNER)), find(from_azure("x", OWNER), from_azure("y", OWNER))
    assert find(IN_SYNC) == ""
    assert one.startswith("outside:")
    assert one != two
    assert find(from_azure("x", replace(OWNER, now="eve"))) == one, "the same field is no news"
    assert find(change(from_azure("x", OWNER), hold=HeldUntil(date(2030, 1, 1), "x"))) == "", "a hold holds"
    assert find(LOGS, from_azure("x", OWNER)) == f"drifted, {one}"


def test_a_message_names_neither_digests_nor_values():
    message = make_message(find(LOGS, OPENED), find(from_azure("x", OWNER)), plan(LOGS, OPENED), {})
    assert message.title == "gitsync: drifted, outside"
    assert message.body.startswith("Resources had drifted; values changed outside of git. Before: outside.\n")
    assert "Changes outside of git that weaken the estate: 1\n" in message.body
    assert not re.search(r"outside:|contoso.com/rob|rob@|Enabled", message.body)


STEPS = [
    (plan(OPENED), ["accept KIND/NAME", "revert KIND/NAME", "acknowledge KIND/NAME", "gitsync/ignore"], "what changed"),
    (plan(change(RESETTING, outside=())), ["gitsync/update-method: patch", "accept KIND/NAME"], "what is reset"),
    (plan(RESETTING), ["gitsync/update-method: patch", "acknowledge KIND/NAME"], "both"),
    (sync(OPENED), ["acknowledge KIND/NAME"], "after a sync too"),
]


@pytest.mark.parametrize(("value", "parts", "why"), STEPS, ids=[row[-1] for row in STEPS])
def test_the_next_steps_name_what_can_be_done(value, parts, why):
    steps = " ".join(list_next_steps(value))
    assert [part for part in parts if part not in steps] == [], why
    assert list_next_steps(sync(WRITTEN)) == [], "the write has decided on both"


def recorded(number, *changed):
    outside = RecordedOutside(values={}, types="1", read="2", changed=changed)
    return change(record(tag(number).key), outside=outside)


RECORDED = (*RECORDS, recorded(1, "/properties/publicNetworkAccess", "/tags/owner"), recorded(2))


def test_status_names_the_fields_that_the_last_sync_found():
    assert list_outside_fields(RECORDED) == [
        "2 changed outside of git, as the last sync found:",
        "  StorageAccount/tagged-01: publicNetworkAccess, tags.owner",
    ]
    assert list_outside_fields(RECORDS) == []


def test_status_folds_what_is_alike():
    records = [recorded(number, "/tags/cost") for number in range(12)]
    assert list_outside_fields(records) == [
        "12 changed outside of git, as the last sync found:",
        "  StorageAccount/tagged-00, StorageAccount/tagged-01, StorageAccount/tagged-02 and 9 more: tags.cost",
    ]


def test_describe_names_them():
    shown = "\n".join(describe_record(RECORDED[-2], revision=None))
    assert re.search(r"^Changed outside of git: +publicNetworkAccess, tags.owner$", shown, re.MULTILINE)
    assert "outside of git" not in "\n".join(describe_record(RECORDED[-1], revision=None))


def test_the_summary_of_the_status_branch_names_them():
    shown = summary.render(RECORDED, revision="a" * 40)
    assert "; 2 changed outside of git" in shown.splitlines()[0]
    assert (
        "## Changed outside of git (2)\n\n- <code>StorageAccount/tagged-01</code>: <code>publicNetworkAccess</code>"
        in shown
    )
    assert "outside" not in summary.render(RECORDS, revision="a" * 40)


@pytest.mark.parametrize("pointer", ["", "x", "/", "/\x1b[2J", "/a~1b/0/c.d", "//"])
def test_a_path_that_somebody_else_recorded_is_shown_on_one_line(pointer):
    (_, line) = list_outside_fields([recorded(1, pointer)])
    assert line.isprintable()


FOREIGN = st.sampled_from(list(HOSTILE.values())) | st.text(max_size=40)


@given(FOREIGN, FOREIGN, FOREIGN)
def test_no_foreign_text_becomes_a_command_or_markup(path, value, reason):
    result = change(
        RESETTING,
        outside=(
            OutsideChange(path=f"/tags/{path}", before=value, now={path: [value]}, weakens=reason),
            OutsideChange(path="/properties/x", before=[value], now=None),
        ),
        resets=(ResetValue(path=f"/properties/{path}", live=value),),
    )
    lines = text.render(plan(result), width=80).split("\n")
    assert all(line.isprintable() for line in lines)
    comment = re.sub(r"(?ms)^(`{3,})diff$.*?^\1$|<code>.*?</code>", "", markdown.render(plan(result)))
    assert not re.search(r"<script|<b>|evil\.example|@contoso|\]\(", comment)
    assert not re.search(r"<script>alert|<b>rob", page.render(plan(result)))
    logged = [*pipelines.annotate_github(plan(result)), *pipelines.annotate_azure_pipelines(plan(result))]
    assert all(re.match(r"::(notice|warning|error) |##vso\[task\.logissue ", line) for line in logged)
    assert not any("\n" in line or "\r" in line for line in logged)
    assert "\x1b" not in render_junit(plan(result))


CHANGES = st.builds(
    OutsideChange,
    path=st.from_regex(r"/properties/[a-z]{1,8}", fullmatch=True),
    before=st.none() | st.integers(),
    now=st.none() | st.integers(),
    weakens=st.sampled_from(["", REACH]),
)


@given(st.lists(st.lists(CHANGES, max_size=4, unique_by=lambda row: row.path), max_size=4))
def test_each_change_is_counted_once_and_listed_once(changes):
    results = [from_azure(f"r{number}", *rows) for number, rows in enumerate(changes)]
    shown, total = text.render(plan(*results), verbose=True), sum(map(len, changes))
    assert (f"{total} changed outside of git" in shown) == bool(total)
    listed = re.findall(r"^    [-+~] (/properties/\w+): ", shown, re.MULTILINE)
    assert sorted(listed) == sorted(row.path for rows in changes for row in rows)
    for found in sarif.build_log(plan(*results))["runs"][0]["results"]:
        assert (found["level"] == "warning") == (REACH in found["message"]["text"])
