"""Paths that are skipped: out of every comparison, and as Azure has them in every body that is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.ignored_paths import keep_live_paths, parse_entry_step, remove_paths

TEAM = (("tags", "team"),)
HIDDEN = (("tags", "hidden-*"),)
EVERY_PREFIX = (("subnets", "*", "prefix"),)
WEB = (("subnets", "[name=web]"),)
PREFIX_OF_WEB = (("subnets", "[name=web]", "prefix"),)


def subnet(name, prefix=None):
    return {"name": name, **({"prefix": prefix} if prefix else {})}


@pytest.mark.parametrize(
    ("body", "paths", "left", "why"),
    [
        ({"tags": {"team": "a", "env": "b"}}, TEAM, {"tags": {"env": "b"}}, "a member goes, its neighbours stay"),
        ({"tags": {"team": "a"}}, TEAM, {"tags": {}}, "what becomes empty stays: it may have been asked for"),
        ({"tags": {"Team": "a"}}, TEAM, {"tags": {}}, "names of tags have no case"),
        ({"tags": {"Team": "a"}}, (("Tags", "Team"),), {"tags": {"Team": "a"}}, "names of members count as they are written"),
        ({"a": {"b": {"c": 1}}}, (("a",),), {}, "a path covers everything below it"),
        ({"a": 1}, (("a", "b"),), {"a": 1}, "a path that goes on below a value covers nothing"),
        ({"a": {"x": {"n": 1}, "y": {"n": 2}}}, (("a", "*", "n"),), {"a": {"x": {}, "y": {}}}, "* is every member"),
        ({"subnets": [subnet("web", 1), subnet("db", 2)]}, EVERY_PREFIX, {"subnets": [subnet("web"), subnet("db")]}, "* is every entry"),
        ({"subnets": [subnet("Web", 1), subnet("db", 2)]}, PREFIX_OF_WEB, {"subnets": [subnet("Web"), subnet("db", 2)]}, "one entry by its name, in any case"),
        ({"subnets": [subnet("web", 1), subnet("db")]}, WEB, {"subnets": [subnet("db")]}, "an entry as a whole"),
        ({"rules": [{"port": 80, "x": 1}, {"port": 81, "x": 1}]}, (("rules", "[port=80]", "x"),), {"rules": [{"port": 80}, {"port": 81, "x": 1}]}, "numbers name entries as well"),
        ({"rules": [{"subnet": {"id": "/A"}, "x": 1}]}, (("rules", "[subnet.id=/a]", "x"),), {"rules": [{"subnet": {"id": "/A"}}]}, "so does what stands inside"),
        ({"rules": [{"x": 1}]}, (("rules", "[port=80]"),), {"rules": [{"x": 1}]}, "an entry without the field is another one"),
        ({"subnets": ["web"]}, WEB, {"subnets": ["web"]}, "an entry without members has no name"),
        ({"ids": {"/Subscriptions/X": {}}}, (("ids", "/subscriptions/x"),), {"ids": {}}, "ARM ids compare without case"),
        ({"a": 1}, (), {"a": 1}, "nothing is left out where nothing is named"),
        ({"tags": {"Hidden-a": 1, "hidden": 2}}, HIDDEN, {"tags": {"hidden": 2}}, "a pattern is many names, in any case"),
        ({"a": {"hidden-a": 1}}, (("a", "hidden-*"),), {"a": {"hidden-a": 1}}, "only names of tags have patterns"),
        ({"properties": {"tags": {"hidden-a": 1}}}, (("properties", "tags", "hidden-*"),), {"properties": {"tags": {}}}, "wherever they are"),
    ],
)  # fmt: skip
def test_left_out_of_a_comparison(body, paths, left, why):
    assert remove_paths(body, paths) == left, why


@pytest.mark.parametrize(
    ("body", "live", "paths", "sent", "why"),
    [
        ({"tags": {"team": "git"}}, {"tags": {"team": "azure"}}, TEAM, {"tags": {"team": "azure"}}, "Azure's value goes back"),
        ({"tags": {"Team": "git"}}, {"tags": {"TEAM": "azure"}}, TEAM, {"tags": {"Team": "azure"}}, "under one name, whatever its case"),
        ({"tags": {"env": "git"}}, {"tags": {"TEAM": "azure"}}, TEAM, {"tags": {"env": "git", "TEAM": "azure"}}, "or as Azure spells it"),
        ({"tags": {"team": "git"}}, {"tags": {}}, TEAM, {"tags": {}}, "what Azure does not have is not sent"),
        ({"tags": {"team": "git"}}, {}, TEAM, {"tags": {}}, "nor where Azure has nothing of what it stands in"),
        ({"tags": {"env": "a"}}, {"tags": {"team": "x", "env": "b"}}, TEAM, {"tags": {"team": "x", "env": "a"}}, "also where git does not say it; the rest is git's"),
        ({}, {"tags": {"team": "x", "env": "b"}}, TEAM, {"tags": {"team": "x"}}, "also where git says nothing of what it stands in"),
        ({}, {"tags": {"env": "b"}}, TEAM, {}, "nothing is made up for a path that is nowhere"),
        ({"a": None}, {"a": {"b": 1, "c": 2}}, (("a", "b"),), {"a": {"b": 1}}, "a null that would reset it does not"),
        ({"a": None, "b": 1}, {"a": 1}, (("c",),), {"a": None, "b": 1}, "a null that was asked for goes on being sent"),
        ({"subnets": [subnet("db", 1), subnet("web", 2)]}, {"subnets": [subnet("web", 8), subnet("db", 9)]}, PREFIX_OF_WEB, {"subnets": [subnet("db", 1), subnet("web", 8)]}, "entries are paired by name"),
        ({"subnets": [subnet("db")]}, {"subnets": [subnet("web", 8), subnet("db")]}, WEB, {"subnets": [subnet("db"), subnet("web", 8)]}, "an entry that only Azure has stays"),
        ({"subnets": [subnet("web", 1)]}, {"subnets": []}, WEB, {"subnets": []}, "one that Azure lost is not put back"),
        ({"subnets": [subnet("web", 1)]}, {"subnets": [subnet("web", 8), subnet("old", 9)]}, EVERY_PREFIX, {"subnets": [subnet("web", 8)]}, "below an entry only that is kept, not the entry"),
        ({"rules": [{"n": 1, "x": 1}]}, {"rules": [{"n": 2, "x": 2}]}, (("rules", "*", "n"),), {"rules": [{"n": 2, "x": 1}]}, "without a key, place decides"),
        ({"rules": [{"id": "A", "n": 1}, {"n": 2}]}, {"rules": [{"n": 3}, {"id": "a", "n": 4}]}, (("rules", "[id=a]"), ("rules", "*", "n")), {"rules": [{"n": 3}, {"id": "a", "n": 4}]}, "and what is covered as a whole has no place"),
        ({"rules": [{"subnet": {"id": "/B"}, "x": 1}, {"subnet": {"id": "/a"}, "x": 2}]}, {"rules": [{"subnet": {"id": "/A"}, "x": 8}, {"subnet": {"id": "/b"}, "x": 9}]}, (("rules", "*", "x"),), {"rules": [{"subnet": {"id": "/B"}, "x": 9}, {"subnet": {"id": "/a"}, "x": 8}]}, "paired by what stands inside"),
        ({"a": "text"}, {"a": {"b": 1}}, (("a", "b"),), {"a": "text"}, "what is of another shape has nothing to keep"),
        ({"tags": {"env": "git"}}, {"tags": {"hidden-a": "1", "Hidden-b": "2", "old": "3"}}, HIDDEN, {"tags": {"env": "git", "hidden-a": "1", "Hidden-b": "2"}}, "a PUT replaces all tags, so those of a pattern that only Azure has are kept"),
        ({}, {"tags": {"hidden-a": "1", "old": "3"}}, HIDDEN, {"tags": {"hidden-a": "1"}}, "also where git has no tags"),
        ({"tags": {"Hidden-a": "git"}}, {"tags": {"hidden-A": "azure"}}, HIDDEN, {"tags": {"Hidden-a": "azure"}}, "one that both have is Azure's, once"),
        ({"tags": {"hidden-a": "git"}}, {"tags": {}}, HIDDEN, {"tags": {}}, "one that Azure lost is not restored"),
    ],
)  # fmt: skip
def test_as_azure_has_it_in_what_is_sent(body, live, paths, sent, why):
    assert keep_live_paths(body, live, paths) == sent, why


JSON = st.recursive(
    st.integers(0, 3) | st.sampled_from(["a", "b"]) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
BODY = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)
STEPS = st.lists(st.sampled_from(["a", "b", "c", "*"]), min_size=1, max_size=3).map(tuple)
PATHS = st.lists(STEPS, max_size=3).map(tuple)


@given(BODY, BODY, PATHS)
def test_without_the_paths_what_is_sent_is_what_git_sets(body, live, paths):
    """Members that hold nothing but what is skipped may come along with it."""
    assert _pruned(remove_paths(keep_live_paths(body, live, paths), paths)) == _pruned(remove_paths(body, paths))


@given(BODY, PATHS)
def test_a_resource_that_is_as_in_git_is_sent_as_in_git(body, paths):
    assert keep_live_paths(body, body, paths) == body


@given(BODY, PATHS)
def test_leaving_out_twice_is_leaving_out_once(body, paths):
    once = remove_paths(body, paths)
    assert remove_paths(once, paths) == once


TAGS = st.dictionaries(st.sampled_from(["hidden-a", "Hidden-b", "team", "env"]), st.sampled_from("xy"), max_size=4)
PATTERNS = st.lists(st.sampled_from(["hidden-*", "*e*", "TEAM"]), max_size=3).map(
    lambda names: tuple(("tags", name) for name in names)
)


@given(TAGS, TAGS, PATTERNS)
def test_an_ignored_tag_is_never_a_difference(git, live, paths):
    sent = keep_live_paths({"tags": git}, {"tags": live}, paths)
    assert remove_paths(sent, paths)["tags"] == remove_paths({"tags": git}, paths)["tags"]
    kept = {name: value for name, value in live.items() if name not in remove_paths({"tags": live}, paths)["tags"]}
    assert {name: value for name, value in sent["tags"].items() if name in kept} == kept
    assert keep_live_paths(sent, {"tags": live}, paths) == sent


def _pruned(value):
    if isinstance(value, dict):
        members = {key: _pruned(child) for key, child in value.items()}
        return {key: child for key, child in members.items() if child not in ({}, None)}
    return [_pruned(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("step", "chosen", "why"),
    [
        ("[name=web]", ("name", "web"), "field and value"),
        ("[id=/subscriptions/a=b]", ("id", "/subscriptions/a=b"), "a value may have anything in it"),
        ("name", None, "a member"),
        ("[name]", None, "no value"),
        ("0", None, "a place"),
    ],
)
def test_steps_that_choose_entries(step, chosen, why):
    assert parse_entry_step(step) == chosen, why
