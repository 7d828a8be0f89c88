"""What is registered, what docs/extensions.md lists, and what ASO's list has, are the same."""

import re
from pathlib import Path

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.extensions.factories.error_rules import Refusals
from tests.extensions.asking import REGISTRY, Nobody, subject, with_
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings, read_aso_list

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "extensions.md").read_text(encoding="utf-8")
SPEC = RECORDINGS / "spec" / "extensions.yaml"
TOLD = read_aso_list()

POINTS = {
    "owner check": "owner_check",
    "pre-check": "pre_check",
    "post-check": "post_check",
    "errors": "classify",
    "body": "modify",
    "delete": "delete",
    "import": "importer",
    "secrets": "export_secrets",
    "config maps": "export_config_maps",
    "success": "succeeded",
}
NOT_BUILT_IN = {("network.azure.com", "VirtualNetworksSubnet")}
"""Post-checks of ASO's that mean nothing here; docs/extensions.md explains why."""

both = needs_recordings(SPEC)


def rows(title):
    """The cells of the table below a heading, without its head."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", DOCUMENT, flags=re.MULTILINE | re.DOTALL)
    assert found, f"docs/extensions.md has no section {title}"
    lines = [line for line in found[1].splitlines() if line.startswith("|")][2:]
    return [[cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def split_names(cell):
    """Names in code, such as `a`, `b`, of a cell whose outer backticks `rows` has removed."""
    return cell.split("`, `")


def registered():
    return [(e.group, e.kind, name) for e in BUILT_IN for name, member in POINTS.items() if getattr(e, member)]


def refusals():
    """Every row of every classifier, as the document writes it."""
    return [
        (extension.group, row.kind, row.code, " and ".join(row.says) or row.matches, row.becomes.value)
        for extension in BUILT_IN
        if isinstance(extension.classify, Refusals)
        for row in extension.classify.rows
    ]


def test_the_document_lists_what_is_registered():
    listed = [(name, point) for point, names, _ in rows("Registrations") for name in split_names(names)]
    assert sorted(listed) == sorted(
        (f"{kind}.{group}", point) for group, kind, point in registered() if point != "errors"
    )


def test_the_document_lists_what_refusals_mean():
    listed = [(group, kind, *rest) for group, kinds, *rest in rows("What refusals mean") for kind in split_names(kinds)]
    assert sorted(listed) == sorted(refusals())


def test_every_registration_is_tested():
    others = [path for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)]
    tests = "".join(path.read_text("utf-8") for path in others)
    assert [row for row in registered() if f'"{row[1]}"' not in tests] == []


def test_nothing_is_registered_twice():
    assert len(registered()) == len(set(registered()))


def test_every_kind_is_known():
    catalog = open_catalog()
    assert [f"{e.kind}.{e.group}" for e in BUILT_IN if e.kind not in catalog.kinds(e.group)] == []


def kinds_of(point):
    return {(group, kind) for group, kind, name in registered() if name == point}


def kinds_told(part):
    return {(row["group"], row["kind"]) for row in TOLD[part]}


@both
@pytest.mark.parametrize(
    ("point", "part", "count"),
    [("owner check", "preReconcileOwner", 5), ("pre-check", "preReconcile", 5), ("errors", "errors", 32)],
)
def test_asos_list_is_complete(point, part, count):
    assert kinds_of(point) == kinds_told(part)
    assert len(kinds_of(point)) == count


@both
def test_asos_exporters_are_there_and_one_more():
    assert kinds_of("secrets") - kinds_told("secrets") == {("containerservice.azure.com", "Fleet")}
    assert kinds_told("secrets") - kinds_of("secrets") == set()
    assert len(kinds_told("secrets")) == 29
    assert kinds_of("config maps") == kinds_told("configMapsHandWritten")


@both
def test_asos_post_checks_are_there_but_for_one():
    assert kinds_told("postReconcile") - kinds_of("post-check") == NOT_BUILT_IN


@both
def test_refusals_mean_what_they_mean_to_aso():
    theirs = [
        (
            row["group"],
            row["kind"],
            row["code"],
            " and ".join(row.get("messageContains", ())) or row.get("messageRegex", ""),
            "fatal" if row["classification"] == "fatal" else "retryable",
        )
        for row in TOLD["errors"]
    ]
    assert len(theirs) == 35
    assert sorted(refusals()) == sorted(theirs)


STATES = """
    Accepted Canceled Creating Deleting Disabled Dropping Failed Inaccessible Moving Provisioning Ready Restarting
    Running Scaling Starting Stopped Stopping Succeeded Updating Upgrading deleting ready succeeded FAILED
"""


@both
@pytest.mark.parametrize("part", ["preReconcileOwner", "preReconcile"])
async def test_states_are_judged_as_by_aso(part):
    for row in TOLD[part]:
        field = row["armPath"].removeprefix("properties.")
        for state in ("", *STATES.split()):
            live = with_(**{field: state})
            about = subject(row["group"], row["kind"], own=live, owner=live)
            check = REGISTRY.owner_check if part == "preReconcileOwner" else REGISTRY.pre_check
            assert (await check(about, Nobody())).agrees is _agrees(row, state), (row["kind"], state)


def _agrees(row, state):
    compared = state if row["caseSensitive"] else state.casefold()
    return (compared in row["states"]) is (row["rule"] == "blockUnlessIn")


@both
async def test_protections_are_settled_as_for_aso():
    (row,) = [row for row in TOLD["postReconcile"] if row["kind"] == "BackupVaultsBackupInstance"]
    for status in (*row["states"], "configuringprotection", "protectionerror", "softdeleting"):
        own = with_(protectionStatus={"status": status.upper()})
        answer = await REGISTRY.post_check(subject(row["group"], row["kind"], own=own), Nobody())
        assert answer.agrees is (status in row["states"]), status
