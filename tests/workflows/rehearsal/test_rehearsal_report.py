"""A rehearsal as text, Markdown, JSON and a page: what it has first, what it leaves out, and hostile names."""

import json
import re
from dataclasses import replace
from functools import cache
from html import unescape

import pytest

from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.rehearsal import Blank, Gap, GapKind, Interrupt, NotRehearsed, Rehearsal, Stub
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.markdown import LIMIT
from gitsync.workflows.rehearsal.rehearsal_findings import format_headline
from gitsync.workflows.rehearsal.rehearsal_page import render
from gitsync.workflows.rehearsal.rehearsal_report import build_document, format_lines, format_markdown
from gitsync.workflows.rehearsal.writes import draw_bar
from tests.report.report_builders import key, result
from tests.support.hostile_texts import HOSTILE
from tests.support.json_schemas import list_faults
from tests.workflows.rehearsal.rehearsals import ENDS, FINE, HUB, REBUILD, REFUSED_RUN, UNEVEN, bar, rebuilt, run, write

FORMS = {
    "text": lambda rehearsal: "\n".join(format_lines(rehearsal)),
    "verbose text": lambda rehearsal: "\n".join(format_lines(rehearsal, verbose=True, width=80)),
    "markdown": format_markdown,
    "page": render,
    "json": lambda rehearsal: json.dumps(build_document(rehearsal)),
}

WRITES, FEWER = "create 3, update 1, delete 1 in at least 3m50s", "create 2, update 1 in at least 3m50s"
SILENT, AGAIN = "a second sync would change nothing", "a second sync would send 1 write"
HEADLINES = [
    (FINE, f"The sync would {WRITES}; {SILENT}", ExitCode.FINE),
    (REFUSED_RUN, "The sync would be refused", ExitCode.FAILED),
    (
        UNEVEN,
        f"1 would fail; 1 of 2 interrupts would end differently; the sync would {FEWER}; {AGAIN}",
        ExitCode.FAILED,
    ),
    (REBUILD, f"1 gap stops the rebuild; a sync from nothing would {WRITES}; {SILENT}", ExitCode.FAILED),
    (
        replace(FINE, second=None, refusal="Too many deletes."),
        f"The sync would {WRITES}; a second sync would be refused",
        ExitCode.FAILED,
    ),
    (
        Rehearsal(from_nothing=False, first=run(result(HUB)), second=run(result(HUB))),
        "The sync would change nothing; a second sync would change nothing",
        ExitCode.FINE,
    ),
]


@pytest.mark.parametrize(("rehearsal", "headline", "code"), HEADLINES, ids=[row[1][:24] for row in HEADLINES])
def test_the_headline_reports_whether_it_would_work(rehearsal, headline, code):
    assert (format_headline(rehearsal), rehearsal.exit_code) == (headline, code)
    for form in FORMS.values():
        assert headline in " ".join(form(rehearsal).split())


@pytest.mark.parametrize("name", ["text", "markdown", "page"])
@pytest.mark.parametrize(
    ("rehearsal", "texts"),
    [
        (REFUSED_RUN, ["Refused", "would delete 12 resources"]),
        (
            UNEVEN,
            ["Would fail", "AccountNameInvalid", "Written again by a second sync", "flowTimeoutInMinutes: (absent)"],
        ),
        (UNEVEN, ["Ends differently after an interrupt", "Stopped after write 2", "is not there", "created twice"]),
        (REBUILD, ["Stops the rebuild", "has no key password", "Put the Secret into git with SOPS"]),
    ],
    ids=["a guard refuses", "a resource fails, and is not silent", "an interrupt", "a gap"],
)
def test_what_stops_it_comes_before_the_writes(rehearsal, texts, name):
    shown = re.sub(r"<header.*</header>|<wbr/>|</?code>", "", FORMS[name](rehearsal), flags=re.DOTALL)
    shown = re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), shown)
    locations = [shown.index(text) for text in texts]
    assert locations == sorted(locations)
    if "Writes" in shown and rehearsal.writes and name != "page":
        assert locations[-1] < shown.index("Writes, in")


def test_every_bad_end_is_explained():
    """Also what only the settings make a failure: a report that fails must show why."""
    failed = replace(FINE, first=replace(FINE.first, exit_code=ExitCode.DRIFT))
    assert failed.exit_code is ExitCode.FAILED
    assert "The sync ends with exit code " in FORMS["text"](failed)


def test_gaps_that_do_not_stop_come_after_the_writes():
    text = FORMS["text"](REBUILD)
    assert text.index("Stops the rebuild") < text.index("Writes, in") < text.index("Not restored from git")


def test_a_resource_that_is_written_twice_by_a_second_sync_is_one_finding():
    twice = replace(UNEVEN, later_writes=(write(1, HUB, Action.UPDATE), write(2, HUB, Action.UPDATE)))
    text = FORMS["text"](twice)
    assert "Written again by a second sync (1)" in text


def test_a_write_that_no_result_explains_is_a_finding_with_its_id():
    stray = replace(write(1, HUB), key=None, arm_id=ArmId("/subscriptions/s/resourceGroups/g"))
    assert "PUT /subscriptions/s/resourceGroups/g" in FORMS["text"](replace(FINE, later_writes=(stray,)))


def test_writes_are_shown_with_wave_start_and_length():
    row = next(line for line in format_lines(FINE) if "VirtualNetworksSubnet/front" in line)
    assert row.split() == ["3", "21s", "6s", "create", "VirtualNetworksSubnet/front", "··█·····················"]


def test_only_a_verbose_text_has_the_requests_and_all_names():
    names = tuple(f"name-{number}" for number in range(9))
    many = replace(FINE, not_rehearsed=(NotRehearsed(blank=Blank.KINDS, sentence="Not known.", count=9, names=names),))
    short, long = FORMS["text"](many), FORMS["verbose text"](many)
    assert ("name-8" in short, "and 4 more" in short, "METHOD" in short) == (False, True, False)
    assert ("name-8" in long, "METHOD" in long) == (True, True)


@pytest.mark.parametrize(
    ("ready", "sent", "end", "drawn"),
    [
        (0, 0, 24, "█" * 24),
        (6, 12, 18, "······░░░░░░██████······"),
        (24, 24, 24, "·" * 23 + "█"),
        (0, 0, 0.1, "█" + "·" * 23),
    ],
    ids=["all the time", "it waits", "at the very end", "shorter than a character"],
)
def test_each_bar_of_a_text_is_as_wide_as_the_line(ready, sent, end, drawn):
    assert draw_bar(bar(HUB, Action.CREATE, ready, sent, end, 1), 24) == drawn


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("form", FORMS)
def test_equal_rehearsals_are_equal_bytes(form, end):
    assert FORMS[form](ENDS[end]) == FORMS[form](replace(ENDS[end]))


@pytest.mark.parametrize("end", ENDS)
def test_the_json_is_as_its_schema_describes(end):
    assert list_faults("rehearse", json.loads(FORMS["json"](ENDS[end]))) == []


def test_markdown_fits_a_comment_however_large_the_rehearsal_is():
    large = rebuilt(100)
    failing = [replace(shown, is_fine=False) for shown in large.first.results]
    gaps = [
        Gap(kind=GapKind.DATA, key=shown.key, message="m" * 900, hint="h" * 900, stops=stops)
        for shown in large.first.results
        for stops in (True, False)
    ]
    differs = (Difference("/properties/a", "x" * 5000, None, "git"),)
    again = [replace(shown, differences=differs) for shown in large.first.results]
    shown = format_markdown(
        replace(
            large,
            first=run(*failing),
            second=run(*again),
            gaps=tuple(gaps),
            interrupts=tuple(
                Interrupt(number=n, arm_id=ArmId("/a" * 200), differences=("d" * 900,) * 20) for n in range(1, 21)
            ),
            stubs=tuple(Stub(arm_id=ArmId(f"/{n}/{'s' * 900}"), wanted_by=(HUB,)) for n in range(200)),
        )
    )
    assert len(shown) < LIMIT
    assert shown.count("<details>") == shown.count("</details>")


def make_hostile(name):
    of = key(name, name, name, name)
    changed = result(of, Verdict.CREATE, Action.CREATE, arm_id=name, differences=(Difference(name, name, None, name),))
    failed = replace(
        changed, is_fine=False, condition=replace(changed.condition, message=name, reason=name, advice=name)
    )
    return replace(
        FINE,
        from_nothing=True,
        first=run(failed, revision=name),
        second=run(changed),
        refusal=name,
        writes=(
            replace(write(1, of), arm_id=ArmId(name), method=name),
            replace(write(2, HUB), key=None, arm_id=ArmId(name)),
        ),
        later_writes=(replace(write(1, HUB), key=None, arm_id=ArmId(name)),),
        schedule=replace(FINE.schedule, bars=(bar(of, Action.CREATE, 0, 1, 2, 1, critical=True),)),
        stubs=(Stub(arm_id=ArmId(name), wanted_by=(of,)),),
        not_rehearsed=(NotRehearsed(blank=Blank.KINDS, sentence=name, count=1, names=(name,)),),
        interrupts=(Interrupt(number=1, arm_id=ArmId(name), differences=(name,), sent_twice=(name,)),),
        gaps=tuple(
            Gap(kind=GapKind.ID, key=of, message=name, hint=name, stops=stops, field=name) for stops in (True, False)
        ),
    )


@cache
def write_calm(form):
    return FORMS[form](make_hostile("rob"))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_name_is_text(text, form):
    calm, shown = write_calm(form), FORMS[form](make_hostile(HOSTILE[text]))
    if form != "json":
        assert not set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown))
        shown.encode()
    if form in {"text", "markdown", "page"} and text != "blanks":
        assert len(shown.splitlines()) == len(calm.splitlines()), "no line begins or ends with a name"
    if form == "markdown":
        plain = re.sub(r"<code>.*?</code>", "", shown)
        assert not re.search(r"<script|<b>rob|\]\(|@\w|https?://|^::", plain, re.MULTILINE)
        assert plain.count("<!--") == 1
    if form == "page":
        assert not re.search(r"<script|<b>rob|<a [^>]*evil", re.sub(r"<style>.*?</style>", "", shown, flags=re.DOTALL))


def test_the_page_loads_and_runs_nothing():
    page = render(REBUILD)
    assert "<script" not in page
    assert not re.search(r"""(?:src|href)=["'](?!#|data:)|url\((?!data:)|@import""", page)
    assert "default-src 'none'" in unescape(page)
