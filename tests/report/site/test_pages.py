"""The files of a site that are the same for every estate: what they may do, and that they know all words of the data."""

import re
from html import escape
from typing import get_args

import pytest

from gitsync.model.verdict import Verdict
from gitsync.report.html.looks import EXITS, LOOKS, Tone
from gitsync.report.site.data_files import decode_data, encode_data
from gitsync.report.site.pages import POLICY, SCRIPTS, render_pages
from gitsync.report.site.shapes import EdgeKind, EventKind
from gitsync.report.site.site_looks import EVENTS, STATES
from gitsync.report.wording import DURATION_STEPS
from tests.report.site.estates import three_targets
from tests.report.site.shape_checks import FILES as FORMS
from tests.report.site.shape_checks import list_deviations
from tests.support.json_schemas import read_schema

FILES = {path: content.decode() for path, content in render_pages().items()}
INDEX = FILES["index.html"]
SCRIPT = "\n".join(FILES[f"assets/{name}.js"] for name in SCRIPTS)


def test_equal_pages_are_equal_bytes():
    assert render_pages() == render_pages()


def test_the_page_has_no_script_and_no_style_of_its_own():
    assert escape(POLICY) in INDEX
    assert "unsafe" not in POLICY
    assert re.findall(r"<script(?! src=\"assets/[a-z_]+\.js\">)|<style|\bstyle=|\bon[a-z]+=", INDEX) == []


def test_each_link_is_relative():
    links = re.findall(r"(?:src|href)=\"([^\"]*)\"", INDEX)
    assert [link for link in links if not link.startswith(("assets/", "#", "data:"))] == []
    assert {link for link in links if link.startswith("assets/")} == {
        path for path in FILES if path.startswith("assets/")
    }


BANNED = [
    ("innerHTML|outerHTML|insertAdjacentHTML|document.write|DOMParser|srcdoc", "markup made of data"),
    (r"\beval\b|new Function|setTimeout\(\"", "code made of data"),
    (r"\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\bimport\b", "requests"),
    (r"localStorage|sessionStorage|document\.cookie|indexedDB", "what one site leaves for another of the same host"),
]


@pytest.mark.parametrize(("pattern", "why"), BANNED, ids=[b[-1] for b in BANNED])
def test_the_scripts_do_without(pattern, why):
    code = re.sub(r"^\s*//.*$", "", SCRIPT, flags=re.MULTILINE)
    assert re.findall(pattern, code) == [], why


def test_all_styles_are_those_of_the_report_and_a_few_more():
    """The colours have one definition: the part of the site has none of its own."""
    own = FILES["assets/site.css"].partition("/* The site */")[2]
    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsla?\(", own) == []


def test_states_look_as_in_the_report_and_the_worst_comes_first():
    assert {verdict.value: LOOKS[verdict] for verdict in Verdict}.items() <= STATES.items()
    assert [look.tone for look in STATES.values()] == sorted(look.tone for look in STATES.values())


def test_every_event_has_a_look():
    assert set(EVENTS) == set(get_args(EventKind))
    assert [look.tone for look in EVENTS.values()] == sorted(look.tone for look in EVENTS.values())


def test_every_exit_code_of_a_report_has_a_look():
    assert set(EXITS) == set(read_schema("report")["properties"]["exitCode"]["enum"])


def test_no_two_words_differ_by_colour_alone():
    for table in (STATES, EVENTS):
        looks = {(look.sign, look.means) for look in table.values()}
        assert len(looks) == len({look.means for look in table.values()})


def test_the_scripts_know_every_reason_for_a_reference():
    names = set(re.search(r"const EDGES = {(.*?)};", SCRIPT, re.DOTALL)[1].replace('"', "").split())
    assert {f"{kind}:" for kind in get_args(EdgeKind)} <= names
    lines = re.search(r"const LINE = {(.*?)};", SCRIPT, re.DOTALL)[1].replace('"', "")
    assert {f"{kind}:" for kind in get_args(EdgeKind)} <= set(lines.split())


def test_the_words_are_the_tables_of_the_report():
    words = decode_data("words", FILES["data/words.js"].encode())
    assert [row[0] for row in words["states"]] == list(STATES)
    assert {row[2] for table in ("states", "events") for row in words[table]} <= {tone.name.lower() for tone in Tone}
    assert [tuple(step) for step in words["steps"][:-1]] == list(DURATION_STEPS)


def test_data_is_a_call_in_ascii():
    """So that no character set, line separator or lone surrogate ends it."""
    value = {"name": "caf\u00e9 \u2028 \ud800 </script>"}
    content = encode_data("resources/a/0", value)
    assert content.isascii()
    assert content.startswith(b'gitsyncData("resources/a/0",')
    assert content.endswith(b");\n")


def test_the_estates_of_the_browser_tests_have_the_form_of_the_data_files():
    """So that the pages are tried with what the command writes."""
    data = {
        path.removeprefix("data/").removesuffix(".js"): content
        for path, content in three_targets().files().items()
        if path.startswith("data/") and path != "data/words.js"
    }
    assert {name.partition("/")[0] for name in data} == set(FORMS)
    for name, content in data.items():
        assert list_deviations(decode_data(name, content), FORMS[name.partition("/")[0]], name) == []


DEVIATIONS = [
    ({"files": [["a", "b"]]}, [], "the form"),
    ({"files": [["a"]]}, [".files[0]: ['a']"], "a tuple of another length"),
    ({"files": [["a", 1]]}, [".files[0][1]: 1"], "another type"),
    ({"files": [], "more": 1}, [": ['more']"], "a member too many"),
    ({}, [": ['files']"], "a member too few"),
    ([], [": []"], "no object"),
]


@pytest.mark.parametrize(("value", "found", "why"), DEVIATIONS, ids=[d[-1] for d in DEVIATIONS])
def test_another_form_is_found(value, found, why):
    assert list_deviations(value, FORMS["audit"]) == found, why
