"""The columns of the tree give back each resource, its id and its parent."""

from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.report.site.data_files import encode_data
from gitsync.report.site.resource_tree import TreeRow, build_tree, choose_shard, count_shards
from tests.repository.git.remembered import a_record

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/shop"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
IDS = (
    "",
    "/subscriptions/00000000-0000-0000-0000-000000000000",
    GROUP,
    GROUP.upper(),
    NETWORK,
    f"{NETWORK}/subnets/front",
    f"{NETWORK}/subnets/front/providers/Microsoft.Authorization/locks/keep",
    "/providers/Microsoft.Management/managementGroups/top",
    "no id at all",
    "/",
    f"{GROUP}/",
)


def read_id(tree, number):
    """The ARM id of a row, as the script of the page finds it."""
    if tree["segment"][number] == -1:
        return ""
    parent, scope = tree["parent"][number], tree["scope"][number]
    start = read_id(tree, parent) if parent >= 0 else tree["scopes"][scope]
    return start + tree["segments"][tree["segment"][number]] + (tree["azureName"][number] or tree["name"][number])


def make_rows(ids):
    rows = []
    for number, arm_id in enumerate(ids):
        record = a_record(f"r{number}", arm_id=ArmId(arm_id))
        rows.append(TreeRow(number % 2, record.key, record, "ready", number))
    return rows


@given(st.lists(st.sampled_from(IDS), max_size=12))
def test_the_id_of_each_row_is_that_of_its_record(ids):
    tree = build_tree(["a", "b"], make_rows(ids))
    for number, arm_id in enumerate(ids):
        assert read_id(tree, number).casefold() == arm_id.rstrip("/").casefold()
        parent = tree["parent"][number]
        assert parent == -1 or ArmId(arm_id.rstrip("/")).is_below(ArmId(ids[parent].rstrip("/")))
    assert {len(tree[name]) for name in ("target", "name", "parent", "state", "shard")} == {len(ids)}


def test_a_row_is_small():
    count = 500
    rows = make_rows(
        [f"{GROUP}{number % 50}/providers/Microsoft.Network/virtualNetworks/hub-{number}" for number in range(count)]
    )
    assert len(encode_data("tree", build_tree(["a", "b"], rows))) < 80 * count


def test_most_resources_stay_in_their_file_as_an_estate_grows():
    keys = [Key("a", "Kind", "default", f"name-{number}") for number in range(1000)]
    assert count_shards(0) == count_shards(1) == 1
    assert count_shards(1000) == count_shards(1020) == 8
    shards = [choose_shard(key, 8) for key in keys]
    assert min(shards.count(number) for number in range(8)) > 80
