"""Names of objects and keys: what Kubernetes has, and nothing that leads elsewhere."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.repository.secrets.store_rules import check_names, make_variable


def address(namespace="default", name="db"):
    return Address(ObjectKind.SECRET, namespace, name)


@pytest.mark.parametrize(
    ("at", "key", "why"),
    [
        (address(), "password", "plain words"),
        (address(name="a.b-c.9"), "tls.crt", "a name may have dots"),
        (address(namespace="9lives"), "k", "a label may begin with a digit"),
        (address(), ".dockerconfigjson", "Kubernetes' own key begins with a dot"),
        (address(), "A_b-C", "keys have capitals and underscores"),
        (address(namespace="n" * 63, name="a" * 253), "k" * 253, "as long as may be"),
    ],
)
def test_what_kubernetes_allows(at, key, why):
    assert check_names(at, [key]) is None, why


@pytest.mark.parametrize(
    ("at", "key", "said", "why"),
    [
        (address(name=".."), "k", "its name '..'", "leads to the folder above"),
        (address(name="../../etc"), "k", "its name", "leads away"),
        (address(name="a/b"), "k", "its name", "is a path"),
        (address(name=""), "k", "its name", "is nothing"),
        (address(name="Db"), "k", "its name 'Db'", "has a capital"),
        (address(name="a..b"), "k", "its name", "has an empty label"),
        (address(name="-a"), "k", "its name", "looks like an option"),
        (address(name="db\n"), "k", "its name 'db\\\\n'", "ends in a newline"),
        (address(namespace="a.b"), "k", "its namespace", "a label has no dot"),
        (address(namespace="n" * 64), "k", "its namespace has 64 characters; at most 63 are allowed", "is too long"),
        (address(name="a" * 254), "k", "its name has 254 characters", "is too long"),
        (address(), "", "its key ''", "is nothing"),
        (address(), ".", "its key", "is the folder itself"),
        (address(), "..", "its key", "is the folder above"),
        (address(), "..data", "its key", "is what Kubernetes calls its own"),
        (address(), "a/b", "its key", "is a path"),
        (address(), "a\0", "its key", "ends a path"),
        (address(), "k" * 254, "its key has 254 characters", "is too long"),
        (address(), "ключ", "its key", "has other letters"),
    ],
)
def test_what_is_refused(at, key, said, why):
    with pytest.raises(SecretStoreError, match=re.escape(said)) as refused:
        check_names(at, [key])
    assert refused.value.message.isprintable(), why


@given(st.text(), st.text(), st.text())
def test_no_name_that_is_allowed_leads_out_of_its_folder(namespace, name, key):
    try:
        check_names(address(namespace, name), [key])
    except SecretStoreError:
        return
    for part in (namespace, name, key):
        assert part not in {"", ".", ".."}
        assert not {"/", "\\", "\0", "\n"} & set(part)


@pytest.mark.parametrize(
    ("at", "key", "expected", "why"),
    [
        (address("team-a", "db.main"), "tls.key", "TEAM_A_DB_MAIN_TLS_KEY", "all but letters and digits is _"),
        (address("9lives", "db"), "k", "_9LIVES_DB_K", "no variable begins with a digit"),
    ],
)
def test_the_variable_of_a_key(at, key, expected, why):
    assert make_variable(at, key) == expected, why
