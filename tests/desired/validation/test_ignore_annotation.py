"""The annotation gitsync/ignore: what it may have, on which day it holds, and what is reported where it has no effect."""

from dataclasses import replace
from datetime import date

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.validation.ignore_annotation import check_ignore, read_ignored_paths
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level
from tests.support.handmade_kinds import a_kind, a_resource

TODAY = date(2030, 6, 15)
VNET = open_catalog().kind(GVK("network.azure.com", "v1api20240301", "VirtualNetwork"))


def resource(text):
    return a_resource(annotations={"gitsync/ignore": text})


def findings(text, kind=VNET):
    return list(check_ignore(resource(text), kind, TODAY))


@pytest.mark.parametrize(
    ("text", "paths", "why"),
    [
        ("", (), "empty means not set"),
        ("[]", (), "so does a list of nothing"),
        ("[/tags/team]", (("tags", "team"),), "a path"),
        ("- /tags/team\n- /tags/env\n", (("tags", "env"), ("tags", "team")), "several, over lines"),
        ("[{path: /tags/team}]", (("tags", "team"),), "the long form"),
        ("[{path: /tags/team, until: 2030-06-15, reason: A test}]", (("tags", "team"),), "the last day counts"),
        ("[{path: /tags/team, until: 2030-06-14}]", (), "the day after does not"),
        ("[{path: /tags/team, until: 2030-06-14}, /tags/env]", (("tags", "env"),), "other entries go on holding"),
        ("[/tags/a~1b~0c]", (("tags", "a/b~c"),), "escapes of a JSON pointer"),
        ("[/tags/*]", (("tags",),), "a path covers what is below it, with a * or without"),
        ("['/properties/subnets/[name=web]/properties']", (("properties", "subnets", "[name=web]", "properties"),), "an entry by name"),
        ("[spec.tags.team]", (("tags", "team"),), "a field of the manifest"),
        ('- spec.tags["a.b"]\n', (("tags", "a.b"),), "a name with a dot has quotes"),
        ("[spec.dhcpOptions.dnsServers]", (("properties", "dhcpOptions", "dnsServers"),), "a field has another place in the request"),
        ("['spec.dhcpOptions.dnsServers.*']", (("properties", "dhcpOptions", "dnsServers"),), "with a * at its end"),
        ("['spec.ipAllocations.*.reference']", (("properties", "ipAllocations", "*", "id"),), "a reference in each entry of a list"),
        ("['spec.ipAllocations[reference=/subscriptions/x]']", (("properties", "ipAllocations", "[id=/subscriptions/x]"),), "an entry by a field that has another name in the request"),
        ("[spec.tags.hidden-*, /tags/a*]", (("tags", "a*"), ("tags", "hidden-*")), "patterns of names of tags"),
        ("[spec.tag, /tags/env]", (("tags", "env"),), "a field that the kind does not have"),
        ("[tags, /tags/env]", (("tags", "env"),), "what is wrong leaves nothing alone"),
    ],
)  # fmt: skip
def test_paths_in_force(text, paths, why):
    assert read_ignored_paths(resource(text), VNET, TODAY) == paths, why


def test_without_a_day_nothing_has_expired():
    assert read_ignored_paths(resource("[{path: /tags/team, until: 2001-01-01}]"), VNET, None) == (("tags", "team"),)


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[/tags", "This is not YAML", "It is in line 2 of the annotation."),
        ("/tags/team", "It is not one YAML list.", "Write a list of paths"),
        ("path: /tags/team", "It is not one YAML list.", "Write a list of paths"),
        ("[/tags]\n---\n[/tags]", "It is not one YAML list.", "Write a list of paths"),
        ("[{path: /tags, path: /location}]", "is duplicated in one mapping", "line 1 of the annotation"),
        ("[7]", "Entry 1 has no path that is text.", "Write a list of paths"),
        ("[/tags, {until: 2030-12-31}]", "Entry 2 has no path that is text.", "Write a list of paths"),
        ("[{path: /tags, untill: 2030-12-31}]", "Entry 1 has an unknown key, untill.", "Did you mean until?"),
        ("[{path: /tags, by: me}]", "Entry 1 has an unknown key, by.", "path, until and reason"),
        ("[tags/team]", 'Entry 1 has "tags/team", which is not a field of spec.', "Write it as plans do"),
        ("[spec..tags]", 'Entry 1 has "spec..tags", which is not a field of spec.', "spec.sku.capacity"),
        ("[metadata.name]", 'Entry 1 has "metadata.name", which is not a field of spec.', "or as a JSON pointer"),
        ("[spec]", 'Entry 1 has "spec", which is all of the resource.', "reconcile-policy: skip"),
        ("['spec.*']", 'Entry 1 has "spec.*", which is all of the resource.', "reconcile-policy: skip"),
        ("[/tags/a~b]", 'Entry 1 has "/tags/a~b", which is not a JSON pointer.', "~0 for ~"),
        ("[/]", "does not name a member in each step", "reconcile-policy: skip"),
        ("['/*']", "does not name a member in each step", "reconcile-policy: skip"),
        ("[/tags//team]", "does not name a member in each step", "reconcile-policy: skip"),
        ("[{path: /tags, until: soon}]", 'Entry 1 has an until that is not a date, "soon".', "2030-12-31"),
        ("[{path: /tags, until: 2030-02-30}]", "is not a date", "2030-12-31"),
        ("[{path: /tags, until: 20301231}]", "is not a date", "2030-12-31"),
        ("[{path: /tags, reason: [a]}]", "Entry 1 has a reason that is not text.", "Quote it."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_an_error(text, said, hint):
    (finding,) = findings(text)
    assert (finding.code, finding.level) == ("Ignore", Level.ERROR)
    assert finding.message.startswith("gitsync/ignore: ")
    assert said in finding.message
    assert hint in finding.hint


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("/tag/team", "Did you mean tags?"),
        ("spec.tag.team", "Did you mean tags?"),
        ("spec.dhcpOptions.dnsServer", "Did you mean dnsServers?"),
        ("spec.dhcpOptions.dnsServers[0]", "Select an entry by a field, such as [name=web], or use * for all entries."),
        ("spec.ipAllocations.id", "Select an entry by a field"),
        ("spec.location.x", "It has no members."),
        ("spec.owner", "Known members: addressSpace, bgpCommunities"),
        ("/properties/dhcpOption", "Did you mean dhcpOptions?"),
        (
            "/properties/dhcpOptions/dnsServers/0",
            "Select an entry by a field, such as [name=web], or use * for all entries.",
        ),
        ("/properties/ipAllocations/[id]/id", "Select an entry by a field"),
        ("/properties/ipAllocations/id", "Select an entry by a field"),
        ("/properties/dhcpOptions/dnsServer", "Did you mean dnsServers?"),
        ("/location/x", "It has no members."),
        ("/properties/extendedLocation", "Known members: addressSpace, bgpCommunities"),
        ("/name", "Known members: extendedLocation, location, properties or tags."),
    ],
)
def test_a_path_that_the_kind_does_not_have_is_a_warning(path, hint):
    (finding,) = findings(f"['{path}']")
    assert (finding.code, finding.level) == ("IgnoreNothing", Level.WARNING)
    assert path in finding.message
    assert hint in finding.hint


@pytest.mark.parametrize(
    "path",
    [
        "/tags",
        "/tags/anything",
        "spec.tags",
        "spec.tags.anything",
        "spec.location",
        "spec.dhcpOptions.dnsServers",
        "spec.ipAllocations[*].reference",
        "/location",
        "/properties",
        "/properties/*",
        "/properties/dhcpOptions/dnsServers",
        "/properties/ipAllocations/*/id",
        "/properties/ipAllocations/[id=~1subscriptions~1x]",
        "/*/dhcpOptions",
        "spec.tags.hidden-*",
        "/tags/*-cost",
    ],
)
def test_a_path_that_the_kind_has_is_fine(path):
    assert findings(f"['{path}']") == []


@pytest.mark.parametrize(
    ("fields", "path", "fits", "why"),
    [
        ({"bag": {"type": "any", "arm": "properties/bag"}}, "/properties/bag/a/0/b", True, "free JSON holds anything"),
        ({"ids": {"type": {"list": "reference"}, "arm": "identity/userAssigned", "mode": "identityMap"}}, "/identity/userAssigned/~1x/y", True, "ids are keys"),
        ({"one": {"type": {"ref": "Union"}, "arm": "properties"}}, "/properties/left", True, "of a union, every side"),
        ({"one": {"type": {"ref": "Union"}, "arm": "properties"}}, "/properties/a", False, "whose fields have no name in ARM"),
        ({"ref": {"type": "reference", "arm": "properties/subnet/id", "mode": "reference"}}, "/properties/subnet/id", True, "a reference is its id"),
        ({"owner": {"type": "knownOwner", "meta": True, "arm": "owner"}}, "/owner", False, "what is not sent"),
    ],
)  # fmt: skip
def test_where_fields_are_in_arm(fields, path, fits, why):
    sides = {"a": {"type": {"ref": "A"}, "arm": "a"}, "b": {"type": {"ref": "B"}, "arm": "b"}}
    types = {
        "Union": {"oneOf": True, "fields": sides},
        "A": {"fields": {"left": {"type": "string", "arm": "left"}}},
        "B": {"fields": {"right": {"type": "string", "arm": "right"}}},
    }
    assert (findings(f"['{path}']", a_kind(fields, types=types)) == []) is fits, why


def test_an_entry_that_has_expired_is_a_warning():
    (finding,) = findings("[{path: /tags/team, until: 2030-06-14}]")
    assert (finding.code, finding.level) == ("IgnoreExpired", Level.WARNING)
    assert "/tags/team was ignored until 2030-06-14" in finding.message


def test_of_a_kind_that_cannot_be_read_nothing_can_be_skipped():
    found = findings("[/tags]", replace(VNET, operations=frozenset({"Head", "Put"})))
    assert [(finding.code, finding.level) for finding in found] == [("Ignore", Level.ERROR)]


def test_a_list_that_is_too_long_is_one_error():
    (finding,) = findings("[" + "{p}," * 1001 + "]")
    assert (finding.level, finding.code) == (Level.ERROR, "Ignore")
    assert "1001 entries" in finding.message


@pytest.mark.parametrize("path", ["spec.things.a*", "/properties/things/a*"])
def test_a_pattern_of_other_names_than_those_of_tags_is_a_warning(path):
    kind = a_kind({"things": {"arm": "properties/things", "type": {"map": "string"}}})
    (finding,) = findings(f"['{path}']", kind)
    assert (finding.code, finding.level) == ("IgnoreNothing", Level.WARNING)
    assert "only names of tags may be patterns" in finding.message
