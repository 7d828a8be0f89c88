"""Look-ups in ARM's types: by name, version and body, and what is read for them."""

import lzma
import subprocess
import sys
from textwrap import dedent

import pytest

from gitsync.desired.catalog import data
from gitsync.desired.catalog.arm_types import ArmTypes, open_arm_types
from gitsync.errors import CatalogError
from gitsync.model.facts import ScopeFlag
from tests.support import world
from tests.support.command_line import variables

TYPES = open_arm_types()


@pytest.mark.parametrize(
    ("name", "spelled", "why"),
    [
        ("Microsoft.Logic/workflows", "Microsoft.Logic/workflows", "as it is"),
        ("MICROSOFT.LOGIC/WORKFLOWS", "Microsoft.Logic/workflows", "ARM has no case"),
        ("Microsoft.Insights/webtests", "Microsoft.Insights/webtests", "old versions have small letters"),
        ("microsoft.network/dnszones/a", "Microsoft.Network/dnsZones/A", "a child"),
        ("Microsoft.Logic/workflow", None, "no such type"),
        ("workflows", None, "no namespace"),
        ("", None, "nothing"),
    ],
)
def test_a_type_is_found_in_any_case(name, spelled, why):
    found = TYPES.find_type(name)
    assert (found and found.name) == spelled, why


def test_versions_are_sorted_and_the_newest_are_named():
    found = TYPES.find_type("Microsoft.Logic/workflows")
    assert list(found.versions) == ["2015-02-01-preview", "2016-06-01", "2018-07-01-preview", "2019-05-01"]
    assert (found.newest_stable, found.newest_preview) == ("2019-05-01", "2018-07-01-preview")
    assert found.find_version("2018-07-01-PREVIEW").api_version == "2018-07-01-preview"
    assert found.find_version("2030-01-01") is None
    assert "listCallbackUrl" in found.versions["2019-05-01"].actions


@pytest.mark.parametrize(
    ("name", "version", "scopes"),
    [
        ("Microsoft.Logic/workflows", "2019-05-01", ScopeFlag.RESOURCE_GROUP),
        ("Microsoft.Management/managementGroups", "2023-04-01", ScopeFlag.TENANT),
        ("Microsoft.Resources/resourceGroups", "2024-03-01", ScopeFlag.SUBSCRIPTION),
        ("Microsoft.Authorization/locks", "2020-05-01", ScopeFlag(31)),
        ("Microsoft.Logic/workflows/runs", "2019-05-01", ScopeFlag(0)),
    ],
)
def test_a_version_has_the_scopes_that_it_can_be_written_at(name, version, scopes):
    found = TYPES.find_type(name)
    assert found.versions[version].writable == scopes
    assert found.is_writable is bool(scopes)
    assert (TYPES.find_body(name, version) is not None) is bool(scopes)


def test_a_type_that_can_only_be_read_has_versions_but_no_newest_one_to_write():
    found = TYPES.find_type("Microsoft.Logic/workflows/runs")
    assert (list(found.versions)[-1], found.newest_stable, found.newest_preview) == ("2019-05-01", None, None)


@pytest.mark.parametrize(
    ("name", "meant", "why"),
    [
        ("Microsoft.Logic/workflow", ("Microsoft.Logic/workflows",), "a letter is missing"),
        ("Microsft.Logic/workflows", ("Microsoft.Logic/workflows",), "a letter of the namespace is missing"),
        (
            "Microsoft.LogicApps/workflows",
            ("Microsoft.DevHub/workflows", "Microsoft.Edge/workflows", "Microsoft.Logic/workflows"),
            "another namespace",
        ),
        ("integrationAccounts", ("Microsoft.Logic/integrationAccounts",), "no namespace"),
        ("quite another", (), "like no other"),
    ],
)
def test_an_unknown_name_gets_suggestions(name, meant, why):
    assert TYPES.suggest_types(name) == meant, why


def test_a_body_has_members_in_any_case_and_no_id_type_or_version():
    body = TYPES.find_body("microsoft.logic/workflows", "2019-05-01")
    assert {"id", "type", "apiVersion"}.isdisjoint(body.members)
    state = body.find_member("Properties").type.find_member("STATE")
    assert (state.name, state.type.choices[:2]) == ("state", ["NotSpecified", "Completed"])
    assert body.find_member("nothingSuch") is None


def test_all_lines_of_all_namespaces_can_be_read():
    """And what they hold is in the file."""
    count = 0
    for name in {name.partition("/")[0].casefold() for name in TYPES.list_names()}:
        namespace = TYPES._load_namespace(name)
        lines = len(namespace.bodies._lines)
        for line in range(lines):
            found = namespace.bodies.get_type(line)
            held = [
                *(member.line for member in found.members.values()),
                *(part._line for part in found.list_variants()),
            ]
            assert all(0 <= other < lines for other in held)
        for arm_type in map(TYPES.find_type, namespace.versions):
            bodies = [version.line for version in arm_type.versions.values()]
            assert all(line is None or 0 <= line < lines for line in bodies)
            count += 1
    assert count == len(TYPES.list_names())


def test_a_namespace_is_read_when_a_type_of_it_is_needed_and_once():
    read = []
    types = ArmTypes(lambda name: read.append(name) or data.read(name))
    assert read == []
    for name in ("workflows", "integrationAccounts"):
        types.find_type(f"Microsoft.Logic/{name}")
        types.find_body(f"microsoft.logic/{name}", "2019-05-01")
    types.find_body("Microsoft.Logic/workflows", "2030-01-01")
    assert read == ["arm_types/microsoft.logic.jsonl.xz"]
    assert len(types.list_names()) > 2_500
    assert types.find_type("Microsoft.LogicApps/workflows") is None
    assert read[1:] == ["arm_types/index.xz", "arm_types/microsoft.logicapps.jsonl.xz"]


def read_damaged(content, name):
    def read(file):
        if file.endswith(name):
            if content is None:
                raise FileNotFoundError(file)
            return content
        return data.read(file)

    return read


@pytest.mark.parametrize(
    ("file", "content", "why"),
    [
        ("logic.jsonl.xz", b"", "empty"),
        ("logic.jsonl.xz", b"no xz", "not packed"),
        ("logic.jsonl.xz", lzma.compress(b'["Microsoft.Logic/workflows"'), "malformed names"),
        ("logic.jsonl.xz", lzma.compress(b'["Microsoft.Logic/workflows"]\n{'), "malformed versions"),
        ("logic.jsonl.xz", None, "missing, though the index has types of it"),
        ("index.xz", b"no xz", "the index"),
    ],
)
def test_damaged_facts_are_an_error_that_names_the_fix(file, content, why):
    types = ArmTypes(read_damaged(content, file))
    with pytest.raises(CatalogError, match="cannot be read") as raised:
        types.list_names() if file == "index.xz" else types.find_type("Microsoft.Logic/workflows")
    assert raised.value.hint == "Install gitsync again.", why


@pytest.mark.parametrize("name", ["../built_in_roles/x", "microsoft.logic/../x", "é/x", "/", "", "a" * 10_000])
def test_no_other_file_is_read_for_a_hostile_name(name):
    assert TYPES.find_type(name) is None


def test_help_reads_no_types():
    program = (
        "import sys; from gitsync.cli.main import run; run(['--help']);"
        "print(sorted(name for name in sys.modules if name.endswith(('arm_types', 'body_types'))))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[]"


def test_a_command_without_such_types_reads_none(tmp_path):
    (tmp_path / "group.yaml").write_text(dedent(world.GROUP))
    program = (
        "from gitsync.cli.main import run; from gitsync.desired.catalog.arm_types import open_arm_types;"
        "code = run(['validate', '--path', '.']); types = open_arm_types(); print(code, types._namespaces, types._names)"
    )
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, env=variables())
    assert ended.stdout.splitlines()[-1] == "0 {} None"
