"""What `dump` writes a line at a time is what libyaml writes for the same value."""

from __future__ import annotations

import json

import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitsync.git.state.yaml_text import dump
from gitsync.manifests.yaml_scalars import resolve

TEXTS = (
    st.text(alphabet="ab:#-? '\"\n\t0.,{}[]/$é|>&*!%@`~=\x85\u2028\r", max_size=8)
    | st.text(max_size=5)
    | st.sampled_from(
        ["x" * 128, "x" * 129, "é" * 64, "é" * 65, "true", "1e3", "08", "2020-01-01", "=", "<<", "- a", "a\ud800b"]
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=14)


class Oracle(yaml.CSafeDumper):
    """libyaml, with the one rule of gitsync: a text that is not read back as the same text is quoted."""

    def ignore_aliases(self, data):
        return True


def represent(oracle, text):
    clean = text.encode("utf-8", "replace").decode()
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(clean[:1], ())
    is_plain = resolve(clean) == clean and not any(pattern.match(clean) for _, pattern in patterns)
    style = None if is_plain and clean.isprintable() else "'" if clean.isprintable() else '"'
    return oracle.represent_scalar("tag:yaml.org,2002:str", clean, style=style)


Oracle.add_representer(str, represent)


def write_by_libyaml(value):
    return yaml.dump(
        value,
        Dumper=Oracle,
        allow_unicode=True,
        width=2**31 - 1,
        sort_keys=False,
        default_flow_style=False,
        encoding="utf-8",
    )


@given(st.dictionaries(TEXTS, VALUES))
def test_a_document_is_written_as_libyaml_writes_it(value):
    assert dump(value) == write_by_libyaml(value)


@given(st.dictionaries(TEXTS, VALUES))
def test_a_document_with_blocks_is_read_as_the_same_value(value):
    readable = json.loads(json.dumps(value).encode("utf-8", "replace"))
    assert yaml.load(dump(readable, has_blocks=True), yaml.CSafeLoader) == yaml.load(dump(readable), yaml.CSafeLoader)


def test_an_empty_list_of_unknown_length_is_a_list():
    assert dump({"a": (number for number in ()), "b": (number for number in (0, 1))}) == b"a: []\nb:\n- 0\n- 1\n"
