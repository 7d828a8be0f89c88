"""Annotations for pipelines: one line each, and no text of a manifest ends a command or begins one."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.condition import Severity
from gitsync.model.plan import LastCommit
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.result import Replacement
from gitsync.model.verdict import Action, Verdict
from gitsync.report.headline import format_headline
from gitsync.report.pipelines import (
    MOST,
    annotate_azure_pipelines,
    annotate_github,
    format_dotenv,
    format_github_outputs,
    list_outputs,
    set_azure_variables,
)
from gitsync.settings.logging import escape_controls
from tests.report.report_builders import (
    DRIFTED,
    FULL,
    IN_SYNC,
    NET,
    ORPHAN,
    PLAN,
    PROBLEMS,
    READY,
    REFUSED,
    failed,
    key,
    report,
    result,
)
from tests.support.parts import change

MOVED = change(DRIFTED, action=Action.NONE, replacement=Replacement(reason="The region would change."))


def list_github(value):
    """The annotations of findings: without the headline, which begins them."""
    headline, *lines = annotate_github(value) or [""]
    assert headline == (f"::notice title=gitsync {value.command}::{format_headline(value)}" if lines else "")
    return lines


def test_github_shows_a_finding_at_its_line():
    assert list_github(FULL)[0] == "::error file=a.yaml,title=NotYaml%3A This is not YAML.::This is not YAML."
    assert list_github(FULL)[-1] == (
        "::warning file=azure.yaml,line=9,title=UnknownField%3A spec.locatoin is not a field of ResourceGroup."
        "::Did you mean spec.location?"
    )
    warning = next(line for line in list_github(PLAN) if "net/hub.yaml" in line)
    assert warning.startswith(
        "::warning file=net/hub.yaml,line=1,title=Would update VirtualNetwork/hub%2C which was changed in Azure::"
    )
    assert '%0A/tags/env: (absent) → "prod"%0A' in warning
    assert list_github(change(PLAN, root="infra"))[2].startswith("::warning file=infra/net/hub.yaml,")


SUBNET_ID = "/subscriptions/0000/resourceGroups/core/providers/Microsoft.Network/virtualNetworks/hub/subnets/old"
REMOVED = [
    (SourceLocation("net/old.yaml", 7), "file=net/old.yaml,line=7,", "the history has its last manifest"),
    (SourceLocation("net/old.yaml", 0), "file=net/old.yaml,title=", "only the record knows the file"),
    (None, "title=", "the record is older than its path"),
]


@pytest.mark.parametrize(("location", "begin", "why"), REMOVED, ids=[row[-1] for row in REMOVED])
def test_a_delete_is_a_warning_where_the_manifest_was(location, begin, why):
    planned = change(
        ORPHAN, condition=replace(ORPHAN.condition, message="Its file is gone."), last_source=location, arm_id=SUBNET_ID
    )
    [line] = list_github(report(planned, command="plan"))
    assert line.startswith(f"::warning {begin}"), why
    assert line.endswith(f"title=Would delete VirtualNetworksSubnet/old::Its file is gone.%0Aid: {SUBNET_ID}")
    [line] = annotate_azure_pipelines(report(planned, command="plan"))
    assert line.startswith("##vso[task.logissue type=warning;")
    assert "]Would delete VirtualNetworksSubnet/old: Its file is gone.%0Aid: " in line


def test_the_title_of_a_delete_reports_that_data_goes_with_it():
    files = "/subscriptions/0000/resourceGroups/core/providers/Microsoft.Storage/storageAccounts/files"
    commit = LastCommit(commit="6d25f14b60cd", author="Ada", subject="Add files")
    removed = change(ORPHAN, key=key("StorageAccount", "files"), arm_id=files, last_commit=commit)
    [line] = list_github(report(removed, command="plan"))
    assert ",title=Would delete StorageAccount/files (holds data)::" in f",{line.removeprefix('::warning ')}"
    assert line.endswith(
        "%0AIt holds data: a delete also deletes its blobs, files, queues and tables."
        f"%0Alast commit: 6d25f14b60cd by Ada: Add files%0Aid: {files}"
    )
    [line] = list_github(report(replace(removed, action=Action.NONE), command="plan"))
    assert "title=StorageAccount/files is no longer in git::" in line, "nothing deletes it without --prune"


def test_a_delete_is_shown_before_a_warning_of_the_manifests():
    warnings = [replace(PROBLEMS[0], line=number) for number in range(30)]
    lines = list_github(report(ORPHAN, command="plan", problems=warnings))
    assert "title=Would delete VirtualNetworksSubnet/old" in lines[0]
    assert len(lines) == MOST


def test_what_a_sync_has_deleted_needs_no_one():
    assert list_github(report(ORPHAN)) == []


def test_azure_pipelines_shows_a_finding_at_its_line():
    lines = annotate_azure_pipelines(FULL)
    assert lines[0] == "##vso[task.logissue type=error;sourcepath=a.yaml;code=NotYaml]This is not YAML."
    assert "##vso[task.logissue type=warning;sourcepath=azure.yaml;linenumber=9;code=UnknownField]" in lines[-1]


def test_the_heaviest_come_first_and_no_more_than_are_shown():
    drifted = [replace(DRIFTED, key=key("VirtualNetwork", f"n{number}", NET)) for number in range(30)]
    lines = list_github(report(*drifted, REFUSED, command="plan", problems=PROBLEMS))
    assert [line.split()[0] for line in lines] == ["::error"] * 2 + ["::warning"] * MOST


def test_a_pending_change_is_a_notice_for_github_alone():
    adopts = result(IN_SYNC.key, Verdict.ADOPT, Action.UPDATE, is_fine=True)
    plan = replace(PLAN, results=(*PLAN.results, adopts))
    assert [line.split()[0] for line in list_github(plan)] == ["::error", "::warning", "::warning", "::notice"]
    assert len(annotate_azure_pipelines(plan)) == 3


def test_the_outputs_of_a_step_are_figures_and_a_commit():
    outputs = list_outputs(PLAN)
    assert (outputs["resources"], outputs["drift"]) == (str(len(PLAN.results)), "1")
    assert int(outputs["changes"]) + int(outputs["failed"]) + int(outputs["blocked"]) <= len(PLAN.results)
    assert outputs["revision"] == ""
    assert list_outputs(replace(PLAN, revision="0" * 40))["revision"] == "0" * 40
    assert all(re.fullmatch("[0-9a-f]*", value) for value in outputs.values())


EFFECTS = [
    (PLAN, ("1", "1", "1", "0"), "a sync would create 1, update 1, delete 1"),
    (FULL, ("0", "1", "1", "0"), "updated 1, deleted 1"),
    (report(MOVED, command="plan"), ("0", "0", "0", "1"), "A sync would change nothing; cannot replace 1"),
]


@pytest.mark.parametrize(("value", "counts", "effect"), EFFECTS, ids=["plan", "sync", "replace"])
def test_the_effect_is_the_same_in_every_form_of_the_outputs_and_in_the_headline(value, counts, effect):
    names = ("creates", "updates", "deletes", "replaces")
    assert tuple(list_outputs(value)[name] for name in names) == counts
    assert format_headline(value).endswith(effect)
    github, dotenv, azure = format_github_outputs(value), format_dotenv(value), set_azure_variables(value)
    for name, count in zip(names, counts, strict=True):
        assert f"{name}={count}\n" in github
        assert f"GITSYNC_OUTPUT_{name.upper()}={count}\n" in dotenv
        assert f"##vso[task.setvariable variable={name};isOutput=true]{count}" in azure


EVIL = [
    ("x\n::add-mask::y", "a command on a line of its own"),
    ("x\r\n##vso[task.setvariable variable=a]b", "the same for Azure Pipelines"),
    ("%0A::error::", "a line end that is escaped already"),
    ("a,b:c;d]e", "what ends a property"),
    ("x\u2028::error::\x85y\x0b::z", "other line ends"),
]


def read_by_github(line):
    """As GitHub's runner reads a workflow command."""
    level, properties, text = re.fullmatch(r"::(\w+) (.*?)::(.*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    spelled = {"%0A": "\n", "%0D": "\r", "%3A": ":", "%2C": ",", "%25": "%"}
    return level, {name: unspelled(value, spelled) for name, value in pairs.items()}, unspelled(text, spelled)


def read_by_azure(line):
    """As the agent of Azure Pipelines reads a logging command."""
    properties, text = re.fullmatch(r"##vso\[task\.logissue (.*?)\](.*)", line).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(";"))
    spelled = {"%0A": "\n", "%0D": "\r", "%3B": ";", "%5D": "]", "%AZP25": "%"}
    values = {name: unspelled(value, spelled) for name, value in pairs.items()}
    return values["type"], {"file": values["sourcepath"]}, unspelled(text, spelled)


def unspelled(text, spelled):
    return re.sub("|".join(spelled), lambda found: spelled[found[0]], text)


@pytest.mark.parametrize(("text", "why"), EVIL, ids=[row[-1] for row in EVIL])
@pytest.mark.parametrize(
    ("form", "read"),
    [(list_github, read_by_github), (annotate_azure_pipelines, read_by_azure)],
    ids=["github", "azure"],
)
def test_foreign_text_stays_in_its_place(form, read, text, why):
    [line] = form(report(problems=[Problem(code="NotYaml", message=text, path=text, line=1)]))
    shown = "\n".join(map(escape_controls, text.splitlines()))
    level, properties, message = read(line)
    if "title" in properties:  # has its first line
        title, *more = shown.split("\n")
        assert properties["title"] == f"NotYaml: {title}", why
        shown_below = "\n".join(more) or title
    else:
        shown_below = shown
    assert line.isprintable(), why
    assert (level, properties["file"], message) == ("error", shown, shown_below), why


@given(st.text(max_size=60))
def test_no_text_makes_a_second_line(text):
    for form in (list_github, annotate_azure_pipelines):
        lines = form(report(problems=[Problem(code="A", message=text, path=text)]))
        assert len(lines) == 1
        assert "".join(lines).isprintable()


def test_what_the_run_tolerates_is_a_warning():
    waiting = change(REFUSED, verdict=Verdict.BLOCKED, is_tolerated=True)
    assert [line.split()[0] for line in list_github(report(waiting))] == ["::warning"]


def wait_for(cause, count, **more):
    condition = failed("WaitingForOwner", "Wait.", Severity.WARNING)
    return [
        change(REFUSED, key=key("Blob", f"b{number}"), verdict=Verdict.BLOCKED, action=Action.NONE, attempts=(),
                condition=condition, blocked_by=cause, source=SourceLocation("blobs.yaml", number + 1), **more)
        for number in range(count)
    ]  # fmt: skip


INVALID = change(REFUSED, verdict=Verdict.INVALID, action=Action.NONE, source=SourceLocation("a.yaml", 10), attempts=())
WRONG = Problem(code="UnknownField", message="spec.x is unknown.", path="a.yaml", line=12)
OTHER = Problem(code="NotYaml", message="It ends.", path="a.yaml", line=2)
CAUSES = [
    ([REFUSED], (), "azure.yaml,line=3", "3 resources wait for it.", "it failed"),
    ([INVALID], (WRONG,), "a.yaml,line=12", "3 resources wait for it.", "its manifest is wrong"),
    ([INVALID], (OTHER, WRONG), "a.yaml,line=12", "3 resources wait for it.", "another manifest of its file is, too"),
    ([INVALID], (OTHER,), "a.yaml,line=2", "3 resources wait for it.", "its file is wrong"),
    ([], (), "blobs.yaml,line=1", "2 more resources wait for it.", "no manifest has it"),
]


@pytest.mark.parametrize(
    ("results", "problems", "location", "sentence", "why"), CAUSES, ids=[row[-1] for row in CAUSES]
)
def test_one_cause_is_one_error_with_the_number_that_waits(results, problems, location, sentence, why):
    value = report(*results, *wait_for(REFUSED.key, 3), problems=problems)
    told = [line for line in list_github(value) if "for it." in line]
    assert len(told) == 1, why
    assert told[0].startswith(f"::error file={location},")
    assert told[0].endswith(sentence)
    innocent = [line for line in list_github(value) if "file=blobs.yaml" in line]
    assert len(innocent) == (not results), why
    assert sum(sentence in line for line in annotate_azure_pipelines(value)) == 1


def test_what_waits_for_what_waits_is_counted_too():
    first = wait_for(REFUSED.key, 1)
    later = replace(wait_for(first[0].key, 1)[0], key=key("Blob", "later"))
    [line] = list_github(report(REFUSED, *first, later))
    assert line.endswith("2 resources wait for it.")


def test_what_waits_for_a_hold_is_one_error():
    held = replace(REFUSED, verdict=Verdict.HELD, action=Action.NONE, condition=READY, is_fine=True, attempts=())
    lines = list_github(report(held, *wait_for(held.key, 3)))
    assert [line.split()[0] for line in lines] == ["::error", "::notice"]
    assert lines[0].endswith("2 more resources wait for it.")


def test_a_run_that_ended_early_is_one_error_of_no_file():
    condition = failed("NotReached", "The run ended before it reached this resource.", Severity.INFO)
    unreached = [
        replace(INVALID, key=key("Blob", str(number)), verdict=Verdict.UNKNOWN, condition=condition)
        for number in range(12)
    ]
    [line] = list_github(report(*unreached, interrupted=True))
    assert line == ("::error title=12 resources were not reached::The run ended before it reached this resource.")
