"""What paths name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.emulator.http.target import PathShape, parse

PATHS = [
    ("/subscriptions", PathShape.SUBSCRIPTIONS, "/", "the collection"),
    ("/subscriptions/s", PathShape.SUBSCRIPTION, "/", "one of them"),
    ("/subscriptions/s/resourceGroups", PathShape.GROUPS, "Microsoft.Resources/resourceGroups", "the groups"),
    (
        "/subscriptions/s/resourcegroups/g",
        PathShape.GROUP,
        "Microsoft.Resources/resourceGroups",
        "clients write it lower case",
    ),
    ("/subscriptions/s/resources", PathShape.RESOURCES, "/", "all that a subscription holds"),
    ("/subscriptions/s/resourceGroups/g/resources", PathShape.RESOURCES, "/", "all that a group holds"),
    ("/subscriptions/s/providers", PathShape.PROVIDERS, "/", "the providers"),
    ("/subscriptions/s/providers/A.B", PathShape.PROVIDER, "A.B", "one provider"),
    ("/subscriptions/s/providers/A.B/cs/d", PathShape.RESOURCE, "A.B/cs", "a resource of a subscription"),
    ("/subscriptions/s/resourceGroups/g/providers/A.B/cs/d/es/f", PathShape.RESOURCE, "A.B/cs/es", "a nested one"),
    ("/subscriptions/s/resourceGroups/g/providers/A.B/cs", PathShape.COLLECTION, "A.B/cs", "a list"),
    (
        "/subscriptions/s/resourceGroups/g/providers/A.B/cs/d/start",
        PathShape.COLLECTION,
        "A.B/cs/start",
        "or an action",
    ),
    ("/providers/A.B/cs/d", PathShape.RESOURCE, "A.B/cs", "a resource of the tenant"),
    (
        "/providers/A.B/cs/d/providers/E.F/gs/h",
        PathShape.RESOURCE,
        "E.F/gs",
        "an extension has the type after the last provider",
    ),
    ("/subscriptions/s/resourceGroups/g/locks", PathShape.UNKNOWN, "/", "a word that ARM does not know"),
    ("/v1.0/groups", PathShape.DIRECTORY, "Microsoft.Graph/groups", "the groups of Microsoft Graph"),
    ("/v1.0/groups/g", PathShape.DIRECTORY, "Microsoft.Graph/groups", "one of them"),
    ("/", PathShape.UNKNOWN, "/", "nothing at all"),
]


@pytest.mark.parametrize(("path", "shape", "kind", "why"), PATHS, ids=[row[0] for row in PATHS])
def test_a_path_names(path, shape, kind, why):
    target = parse(path)
    assert (target.shape, target.type.rstrip("/") or "/") == (shape, kind), why


def test_a_nested_extension_has_all_that_is_above_it():
    path = "/subscriptions/s/resourceGroups/g/providers/A.B/cs/d/es/f/providers/G.H/is/j/ks/l"
    group = "/subscriptions/s/resourceGroups/g/providers/A.B/cs"
    assert [above.path for above in parse(path).ancestors] == [
        f"{group}/d",
        f"{group}/d/es/f",
        f"{group}/d/es/f/providers/G.H/is/j",
    ]


def test_arms_own_words_get_their_usual_case_and_names_keep_theirs():
    path = parse("/SUBSCRIPTIONS/S/RESOURCEGROUPS/Subscriptions/PROVIDERS/A.B/Cs/D%20e").path
    assert path == "/subscriptions/S/resourceGroups/Subscriptions/providers/A.B/Cs/D e"


words = st.text("abcXYZ09-_.", min_size=1, max_size=6).filter(lambda word: word.casefold() != "providers")


@given(st.lists(st.tuples(words, words), min_size=1, max_size=3), words, words, words)
def test_case_makes_no_other_resource(pairs, subscription, group, namespace):
    tail = "/".join(word for pair in pairs for word in pair)
    path = f"/subscriptions/{subscription}/resourceGroups/{group}/providers/{namespace}/{tail}"
    target = parse(path)
    assert target.key == parse(path.upper()).key == parse(path.lower()).key
    assert (target.subscription, target.group, target.namespace) == (subscription, group, namespace)
    assert len(target.ancestors) == len(pairs) - 1
    assert parse(target.path) == target
