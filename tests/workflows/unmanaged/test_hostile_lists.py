"""`gitsync unmanaged` with lists that are none: no crash, no row that Azure did not give, and an exit code that shows
when something could not be read.
"""

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from tests.support.hostile_texts import HOSTILE
from tests.support.hypothesis_profile import scale
from tests.support.world import SUBSCRIPTION
from tests.workflows.unmanaged.test_beyond_groups import AUTHORIZATION, HERE, ROOT, SHOP, answer, assign, look

GROUPS = f"/subscriptions/{SUBSCRIPTION}/resourcegroups"
RESOURCES = f"{ROOT}/resourceGroups/shop/resources"
ASSIGNMENTS = f"{ROOT}/{AUTHORIZATION}/roleAssignments"
LOCKS = f"{ROOT}/{AUTHORIZATION}/locks"
LISTS = [GROUPS, RESOURCES, ASSIGNMENTS, LOCKS, f"{ROOT}/{AUTHORIZATION}/policyAssignments"]
VAULT = f"{ROOT}/resourceGroups/shop/providers/Microsoft.KeyVault/vaults/v"
ELSEWHERE = "/subscriptions/00000000-0000-0000-0000-0000000000ff"


def check(done):
    """What holds of each end: a report, or an error in words; nothing that a terminal takes for a command."""
    assert done.code in {0, 1, 2}, done
    assert "Internal error" not in done.out + done.err
    assert "Traceback" not in done.err
    assert re.findall(r".*[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069].*", done.out) == []
    return json.loads(done.out) if done.out.startswith("{") else None


ENTRIES = [
    (GROUPS, {"value": [{"location": "x"}]}, 2, "a group without a name"),
    (GROUPS, {"value": [7]}, 2, "a group that is no object"),
    (GROUPS, {"value": {}}, 2, "no list"),
    (GROUPS, {}, 2, "nothing"),
    (GROUPS, {"value": [], "nextLink": "https://evil.example/"}, 2, "a link to another host"),
    (ASSIGNMENTS, {"value": [{"properties": {}}]}, 2, "an assignment without an id"),
    (ASSIGNMENTS, {"value": [{"id": 7}]}, 2, "an id that is no text"),
    (LOCKS, {"value": [{"id": None}]}, 2, "a lock without an id"),
    (LOCKS, {"value": "none"}, 2, "a text for a list"),
    (RESOURCES, {"value": [None]}, 2, "a resource that is no object"),
]


@pytest.mark.parametrize(("path", "body", "code", "why"), ENTRIES, ids=[row[-1] for row in ENTRIES])
def test_a_list_that_cannot_be_read_is_not_an_empty_list(tmp_path, path, body, code, why):
    done, _ = look(tmp_path, "-o=json", bodies=SHOP, rules=(answer(path, body=body),))
    check(done)
    assert done.code in {1, code}, (why, done)


NO_STRAYS = [
    (ASSIGNMENTS, assign(f"{ELSEWHERE}", 1), "an assignment of another subscription"),
    (ASSIGNMENTS, {f"{ROOT}/{AUTHORIZATION}/locks/x": {}}, "another type"),
    (ASSIGNMENTS, {f"{ROOT}/{AUTHORIZATION}/roleAssignments/a/b/c": {}}, "what is below one"),
    (ASSIGNMENTS, {f"{ROOT}/../x/{AUTHORIZATION}/roleAssignments/a": {}}, "a path that leads elsewhere"),
    (LOCKS, {"locks/x": {}}, "no id"),
    (LOCKS, {f"{ROOT}/{AUTHORIZATION}/locks": {}}, "an id without a name"),
    (
        RESOURCES,
        {VAULT.replace(SUBSCRIPTION, ELSEWHERE.rpartition("/")[2]): HERE},
        "a resource of another subscription",
    ),
    (RESOURCES, {VAULT.replace("/shop/", "/other/"): HERE}, "a resource of another group"),
    (RESOURCES, {"": HERE}, "a resource without an id"),
]


def test_what_is_not_in_the_scope_is_not_a_stray(tmp_path):
    entries = {path: [entry for of, entry, _ in NO_STRAYS if of == path] for path, _, _ in NO_STRAYS}
    rules = tuple(answer(path, *those) for path, those in entries.items())
    done, _ = look(tmp_path, "-o=json", bodies=SHOP, rules=rules)
    assert check(done)["resources"] == []


def test_a_row_that_two_pages_show_is_one(tmp_path):
    rule = answer(ASSIGNMENTS, assign(ROOT, 1), {text.upper(): body for text, body in assign(ROOT, 1).items()})
    done, _ = look(tmp_path, "-o=json", bodies=SHOP, rules=(rule,))
    assert [resource["role"] for resource in check(done)["resources"]] == ["Reader"]


TEXTS = {name: text for name, text in HOSTILE.items() if name != "a surrogate"}  # no JSON: the list is refused
UNEXPECTED = [None, 7, [], {}, "", *TEXTS.values()]


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_any_member_of_an_assignment_is_shown_as_text(tmp_path, form):
    names = ["roleDefinitionId", "principalId", "principalType", "createdOn", "description"]
    entries = [assign(ROOT, number, **dict.fromkeys(names, value)) for number, value in enumerate(UNEXPECTED)]
    done, _ = look(tmp_path, f"-o={form}", bodies=SHOP, rules=(answer(ASSIGNMENTS, *entries),))
    document = check(done)
    assert done.code == 0, done.err
    if form == "json":
        assert [ArmId(resource["armId"]).key for resource in document["resources"]] == [
            ArmId(arm_id).key for entry in entries for arm_id in entry
        ]
    if form == "markdown":
        plain = re.sub(r"<code>.*?</code>|^```.*?^```", "", done.out, flags=re.DOTALL | re.MULTILINE)
        assert re.findall(r".*(?:<script|<b>|\]\(|@\w|https?://|<!--|^::).*", plain, re.MULTILINE) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"]), max_size=15),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
ENTRY = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from([VAULT, ROOT, *assign(ROOT, 1), f"{GROUPS}/x"]) | JSON,
        "name": st.just("x") | JSON,
        "managedBy": JSON,
        "tags": JSON,
        "properties": JSON,
        "systemData": JSON,
        "createdTime": JSON,
    },
)


@given(
    path=st.sampled_from(LISTS), entries=st.lists(ENTRY | JSON, max_size=3), way=st.sampled_from(["--full", "--fast"])
)
@settings(
    max_examples=scale(20),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_any_list_ends_in_a_report_or_in_an_error(tmp_path, path, entries, way):
    done, _ = look(tmp_path, "-o=json", way, bodies=SHOP, rules=(answer(path, body={"value": entries}),))
    document = check(done)
    assert document or done.err
