"""Terraform's language: each text below was read back by `tofu console` and has the layout of `tofu fmt`."""

import math

import pytest

from gitsync.workflows.exports.terraform.hcl import (
    Expression,
    HclBlock,
    Interpolation,
    find_inexpressible,
    format_file,
    format_path,
    format_value,
)

VALUES = [
    ("plain", '"plain"', "text"),
    ("a${b}", '"a$${b}"', "an interpolation is escaped"),
    ("a%{if x}", '"a%%{if x}"', "so is a directive"),
    ("$${y}", r'"$\u0024{y}"', "a doubled sign would be an escape: $${ is read as ${"),
    ("%%{y}", r'"%\u0025{y}"', "the same for a directive"),
    ("$%{y}", r'"$\u0025{y}"', "other signs before it"),
    ("$ {x} $", '"$ {x} $"', "a sign without a brace has no meaning"),
    ('say "hi" \\n', r'"say \"hi\" \\n"', "quotes and backslashes"),
    ("a\nb\r\tc", r'"a\nb\r\tc"', "a text stays on one line"),
    ("\0\x1b[31m", r'"\u0000\u001B[31m"', "no control character reaches a terminal"),
    ("a\u2028b\u202e", r'"a\u2028b\u202E"', "nothing that changes lines or directions"),
    ("Übung ✓", '"Übung ✓"', "other letters are readable"),
    ("\U000e0001", r'"\U000E0001"', "a character outside of the first plane"),
    ("<<EOT", '"<<EOT"', "no heredoc"),
    (True, "true", "a boolean is not a number"),
    (0, "0", "zero is not false"),
    (-3, "-3", "a negative number"),
    (1.5, "1.5", "a fraction"),
    (1e30, "1e+30", "a large number"),
    (None, "null", "null"),
    ([], "[]", "an empty list"),
    ({}, "{}", "an empty object"),
    (["a", 1], '["a", 1]', "a short list has one line"),
    (Expression("var.x"), "var.x", "an expression is written as it is"),
    (Interpolation(("a${", Expression("var.x"), "/b")), '"a$${${var.x}/b"', "an expression in a text"),
    (Interpolation(("a$", Expression("var.x"))), r'"a\u0024${var.x}"', "a sign before an expression would escape it"),
    (Interpolation(("a%$", Expression("var.x"))), r'"a\u0025\u0024${var.x}"', "two signs"),
    (Interpolation(("$", "{b}", Expression("var.x"))), '"$${b}${var.x}"', "parts that are a marker together"),
    ({"a-b": 1, "for": 2, "null": 3, "9": 4, "": 5}, None, "keys that are not identifiers, or are words"),
    ({"${x}": 1}, '{\n  "$${x}" = 1\n}', "a key is a template, too"),
    ({"ä": 1}, '{\n  "ä" = 1\n}', "Terraform allows this key without quotes, and no reader expects it"),
    ({"a": 1, "long": {"b": 2}, "c": 3}, "{\n  a = 1\n  long = {\n    b = 2\n  }\n  c = 3\n}", "what is aligned"),
    ([{"a": 1}], "[\n  {\n    a = 1\n  },\n]", "objects have lines of their own"),
    (["x" * 60, "y" * 60], f'[\n  "{"x" * 60}",\n  "{"y" * 60}",\n]', "a long list"),
]


@pytest.mark.parametrize(("value", "text", "why"), VALUES, ids=[row[-1] for row in VALUES])
def test_value(value, text, why):
    wanted = text or '{\n  "a-b"  = 1\n  "for"  = 2\n  "null" = 3\n  "9"    = 4\n  ""     = 5\n}'
    assert format_value(value) == wanted, why


def test_file():
    inner = HclBlock(type="lifecycle", arguments={"prevent_destroy": True})
    block = HclBlock(
        type="resource",
        labels=("azapi_resource", "hub"),
        arguments={"name": "hub", "parent_id": "/"},
        blocks=(inner,),
        comment='VirtualNetwork hub (a\nb.yaml) }"',
    )
    assert format_file("Made.", [block, HclBlock(type="provider", labels=("azapi",), arguments={})]).decode() == (
        "# Made.\n\n"
        '# VirtualNetwork hub (a\\nb.yaml) }\\"\n'
        'resource "azapi_resource" "hub" {\n'
        '  name      = "hub"\n'
        '  parent_id = "/"\n\n'
        "  lifecycle {\n"
        "    prevent_destroy = true\n"
        "  }\n"
        "}\n\n"
        'provider "azapi" {}\n'
    )


PATHS = [
    (("properties", "state"), "x.properties.state", "identifiers"),
    (("tags", "a-b"), 'x.tags["a-b"]', "a name that is not one"),
    (("a", 0, "b"), "x.a[0].b", "an entry of a list"),
]


@pytest.mark.parametrize(("steps", "text", "why"), PATHS, ids=[row[-1] for row in PATHS])
def test_path(steps, text, why):
    assert format_path("x", steps) == text, why


INEXPRESSIBLE = [
    ({"a": [1, {"b": 2**53 + 1}]}, ("a", 1, "b"), "azapi keeps floats of 64 bits"),
    ({"a": 2**53 + 2}, None, "an even number of this size is a float"),
    ({"a": 10**400}, ("a",), "larger than any float"),
    ({"a": math.inf}, ("a",), "YAML has infinity, and Terraform does not"),
    ({"a": math.nan}, ("a",), "nor what is not a number"),
    ({"a": "e\u0301"}, ("a",), "Terraform composes letters"),
    ({"e\u0301": 1}, ("e\u0301",), "in keys, too"),
    ({"a": "\ud800"}, ("a",), "half a pair has no bytes"),
    ({"a": "é", "b": True, "c": None, "d": 1.5}, None, "all else"),
]


@pytest.mark.parametrize(("value", "path", "why"), INEXPRESSIBLE, ids=[row[-1] for row in INEXPRESSIBLE])
def test_inexpressible_value(value, path, why):
    found = find_inexpressible(value)
    assert (found and found[0]) == path, why
