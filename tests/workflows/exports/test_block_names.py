"""Names of blocks and variables: legal, unique, and the same in every export."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.workflows.exports.terraform.block_names import RESERVED, NamedParts, choose_names, clean_name


def parts(*usual, more="ns", identity=None):
    return NamedParts(usual, ((more,),), identity or "/".join((more, *usual)))


ROWS = [
    ([parts("virtual_network", "hub")], ["virtual_network_hub"], "the usual form"),
    ([parts("virtual_network", "hub.one-a")], ["virtual_network_hub_one_a"], "other characters"),
    (
        [parts("account", "a", more="dev"), parts("account", "a", more="prod")],
        ["account_a_dev", "account_a_prod"],
        "both get the namespace, whatever their order",
    ),
    (
        [parts("account", "a-b"), parts("account", "a.b")],
        ["account_a_b_8e526482", "account_a_b_e5b49972"],
        "names that differ in signs only",
    ),
    ([parts("x", "Übung")], ["x_bung"], "other letters"),
    ([parts("9", "lives")], ["n_9_lives"], "a digit does not begin a name"),
    ([parts("ß"), parts("日本")], ["ss", "ns"], "nothing legal in it"),
    ([parts("depends", "on")], ["depends_on_ns"], "a name that Terraform has taken"),
]


@pytest.mark.parametrize(("named", "names", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_names(named, names, why):
    assert choose_names(named, RESERVED) == names, why


TEXTS = st.text(max_size=12)


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), unique=True, max_size=8), st.randoms())
def test_names_are_legal_unique_and_independent_of_order(rows, random):
    named = [NamedParts((kind, name), ((more,), (more, kind)), repr((kind, name, more))) for kind, name, more in rows]
    names = choose_names(named, RESERVED)
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) and name not in RESERVED for name in names)
    shuffled = list(zip(named, names, strict=True))
    random.shuffle(shuffled)
    assert choose_names([each for each, _ in shuffled], RESERVED) == [name for _, name in shuffled]


@given(TEXTS)
def test_a_file_has_no_special_name(text):
    assert re.fullmatch(r"|[a-z][a-z0-9-]*", clean_name((text,), "-"))
