"""A release of ASO taken into a catalog: its summary, its history, and the versions that it removed."""

import json
import lzma
import shutil
import subprocess

import make_catalog
import pytest
from extract_facts.change_summary import compare, format_summary
from extract_facts.release_history import Lifetime, Name, read_history

from gitsync.desired.catalog.catalog import Catalog
from gitsync.model.gvk import GVK
from tests.tools.aso_checkouts import (
    ARM,
    GROUP,
    PART,
    THING,
    TIE,
    add_version,
    change,
    copy_checkout,
    read_facts,
)
from tests.tools.tool_runs import run_tool

OLD = read_facts()
# (file, edits, changed, why): `changed` has all lines of the summary
EDITS = [
    (
        THING,
        [
            ("	// NetworkReference: Where it listens.\n", '	Kind *string `json:"kind,omitempty"`\n\n'),
            (
                "		result.Location = &location\n	}\n",
                "		result.Location = &location\n	}\n	result.Zone = thing.Kind\n",
            ),
        ],
        ['Thing_Spec.kind is new: {"arm": "zone", "type": "string"}'],
        "a field came",
    ),
    (
        TIE,
        [('json:"roleReference,omitempty"', 'json:"ruleReference,omitempty"')],
        [
            "Tie_Spec.roleReference is gone",
            (
                'Tie_Spec.ruleReference is new: {"arm": "roleId", "armReference": "Role", "mode": "reference", "type": '
                '"wellKnownReference"}'
            ),
        ],
        "a field was renamed",
    ),
    (
        THING,
        [("MaxLength=24", "MaxLength=20")],
        ["Thing_Spec.azureName maxLength: 24 → 20", "Thing azureName: maxLength: 24 → 20"],
        "a rule of the name was tightened",
    ),
    (
        THING,
        [("	// Share: Of the whole.\n", "	// +kubebuilder:validation:Required\n")],
        ["Thing_Spec.share required: none → true"],
        "a field is required now",
    ),
    (
        THING,
        [("	// +kubebuilder:validation:Required\n	// Hour: When.\n", "")],
        ["DailyBackup.hour required: true → none"],
        "a field is no longer required",
    ),
    (
        THING,
        [('Enum={"Large","Small"}', 'Enum={"Large","Medium","Small"}')],
        ["Thing_Spec.size type: enum: new Medium"],
        "a choice came",
    ),
    (
        THING,
        [('Enum={"Friday","Monday"}', 'Enum={"Friday"}')],
        ["WeeklyBackup.days type: list: enum: without Monday"],
        "a choice of a list went",
    ),
    (
        THING,
        [("Pattern=`^[1-3]$`", "Pattern=`^[1-2]$`")],
        ["Thing_Spec.zone type: pattern: ^[1-3]$ → ^[1-2]$"],
        "a pattern changed",
    ),
    (THING, [("Maximum=100", "Maximum=50")], ["Thing_Spec.share maximum: 100 → 50"], "a limit was tightened"),
    (
        ARM,
        [
            (
                '	if discriminator == "Weekly" {\n		backup.Weekly = &WeeklyBackup{}\n		return json.Unmarshal(data, backup.Weekly)\n	}\n',
                "",
            )
        ],
        ["Backup values: Weekly: weeklyBackup → none"],
        "a union lost a value",
    ),
    (
        THING,
        [
            (
                "	AdminPassword *genruntime.SecretReference `json",
                '	AdminPassword *string `json:"adminPassword,omitempty" optionalSecretPair:"AdminPassword"`\n	AdminPasswordFromSecret *genruntime.SecretReference `json',
            ),
            (
                '`json:"adminPassword,omitempty"`\n',
                '`json:"adminPasswordFromSecret,omitempty" optionalSecretPair:"AdminPassword"`\n',
            ),
            (
                "	if thing.AdminPassword != nil {\n",
                "	if thing.AdminPassword != nil {\n		adminPassword := *thing.AdminPassword\n		result.Properties.AdminPassword = &adminPassword\n	}\n	if thing.AdminPasswordFromSecret != nil {\n",
            ),
            ("Lookup(*thing.AdminPassword)", "Lookup(*thing.AdminPasswordFromSecret)"),
        ],
        [
            "Thing_Spec.adminPassword mode: secret → none",
            "Thing_Spec.adminPassword type: secretReference → string",
            (
                'Thing_Spec.adminPasswordFromSecret is new: {"arm": "properties/adminPassword", "mode": "secret", "type": '
                '"secretReference"}'
            ),
        ],
        "a secret became optional",
    ),
    (
        PART,
        [("Enabled *bool `json", "Enabled *string `json")],
        ["ThingsPart_Spec.enabled type: boolean → string"],
        "another type",
    ),
    (
        ARM,
        [('json:"trustedCertificates"', 'json:"trustedCertificates,omitempty"')],
        ["Thing_Spec.certificates whenEmpty: null → none"],
        "an empty list is no longer sent",
    ),
    (
        ARM,
        [('json:"roleId,omitempty"', 'json:"roleDefinitionId,omitempty"')],
        ["Tie_Spec.roleReference arm: roleId → roleDefinitionId"],
        "another name in ARM",
    ),
    (
        PART,
        [('kind:"Thing"', 'kind:"Tie"')],
        ["ThingsPart owner: kind: Thing → Tie"],
        "another owner",
    ),
    (
        PART,
        [
            (
                "		genruntime.ResourceOperationGet,\n",
                "		genruntime.ResourceOperationDelete,\n		genruntime.ResourceOperationGet,\n",
            )
        ],
        ["ThingsPart operations: new Delete"],
        "it can be deleted now",
    ),
    (
        PART,
        [('	return "default"', '	return "current"')],
        ["ThingsPart fixedAzureName: default → current"],
        "another name",
    ),
    (
        TIE,
        [('	return "2023-06-01"', '	return "2024-06-01"')],
        ["Tie apiVersion: 2023-06-01 → 2024-06-01"],
        "another api-version in ARM",
    ),
    (
        THING,
        [
            (
                "			if thing.Status.Endpoints.Web != nil {\n				collector.AddValue(thing.Spec.OperatorSpec.ConfigMaps.WebEndpoint, *thing.Status.Endpoints.Web)\n			}\n",
                "",
            )
        ],
        ['Thing configMaps: {"webEndpoint": ["endpoints", "web"]} → none'],
        "an export went",
    ),
]


@pytest.mark.parametrize(("file", "edits", "changed", "why"), EDITS)
def test_a_change_shows_in_the_summary_and_nothing_else(tmp_path_factory, file, edits, changed, why):
    checkout = copy_checkout(tmp_path_factory.mktemp("aso"))
    change(checkout, file, *edits)
    summary = compare(OLD, read_facts(checkout))
    assert (summary.came, summary.went) == ((), ()), why
    assert sorted(summary.changed) == sorted(f"`{GROUP}` v20240101: `{line}`" for line in changed), why


def test_a_kind_that_is_gone_shows_in_the_summary_and_nothing_else(tmp_path):
    checkout = copy_checkout(tmp_path)
    (checkout / TIE).unlink()
    assert compare(OLD, read_facts(checkout)) == ((), (f"`{GROUP}` Tie (the kind): v20240101",), ())


def test_a_new_version_shows_in_the_summary_and_nothing_else(tmp_path):
    checkout = copy_checkout(tmp_path)
    add_version(checkout, "v20250101")
    names = ("Thing", "ThingsPart", "Tie")
    assert compare(OLD, read_facts(checkout)) == (tuple(f"`{GROUP}` {kind}: v20250101" for kind in names), (), ())


def test_a_change_that_both_spellings_have_is_one_line(tmp_path):
    checkout = copy_checkout(tmp_path)
    add_version(checkout, "v1api20240101")
    old = read_facts(checkout)
    for version in ("v20240101", "v1api20240101"):
        change(checkout, PART.replace("v20240101", version), ("Enabled *bool `json", "Enabled *string `json"))
    both = compare(old, read_facts(checkout)).changed
    assert both == (f"`{GROUP}` v1api20240101, v20240101: `ThingsPart_Spec.enabled type: boolean → string`",)
    change(checkout, PART, ("Enabled *string `json", "Enabled *bool `json"))
    single = compare(old, read_facts(checkout)).changed
    assert single == (f"`{GROUP}` v1api20240101: `ThingsPart_Spec.enabled type: boolean → string`",)


@pytest.mark.parametrize(
    ("choices", "text", "why"),
    [
        (["@everyone", "<b>"], "`Thing_Spec.size type: enum: new @everyone, <b>`", "text that Markdown would render"),
        (["a`b"], "``Thing_Spec.size type: enum: new a`b``", "the mark of code"),
        ([f"Größe-{number}" for number in range(2000)], "Größe-1, Größe-2, ", "many"),
    ],
)
def test_a_value_shows_as_code_and_a_long_one_is_cut(tmp_path, choices, text, why):
    checkout = copy_checkout(tmp_path)
    every = ",".join(json.dumps(choice, ensure_ascii=False) for choice in ["Large", "Small", *choices])
    change(checkout, THING, ('Enum={"Large","Small"}', f"Enum={{{every}}}"))
    (line,) = compare(OLD, read_facts(checkout)).changed
    assert text in line, why
    assert len(line) < 700, why


def test_equal_facts_have_an_empty_summary():
    assert compare(OLD, read_facts()) == ((), (), ())
    assert "The facts are as they were." in format_summary("ASO 2.22.0", compare(OLD, OLD))


def run_git(checkout, *arguments):
    who = ("-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *arguments], cwd=checkout, check=True, capture_output=True)


def commit(checkout, tag=""):
    run_git(checkout, "init", "--quiet") if not (checkout / ".git").exists() else None
    run_git(checkout, "add", ".")
    run_git(checkout, "commit", "--quiet", "--message", "A release", "--date", "2026-08-31T12:00:00Z")
    run_git(checkout, "tag", tag) if tag else None


def take(checkout, data, *flags):
    ended = run_tool(make_catalog.main, checkout, "--data", data, *flags)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def read_index(data):
    return json.loads(lzma.decompress((data / "index.json.xz").read_bytes()))[GROUP]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """A folder with a checkout and a catalog, at the release 2.21.0 with two versions."""
    folder = tmp_path_factory.mktemp("release")
    checkout = copy_checkout(folder)
    add_version(checkout, "v1api20230101")
    commit(checkout, "v2.21.0")
    take(checkout, folder / "data")
    return folder


@pytest.fixture
def released(release, tmp_path):
    """A copy of them that a test may change."""
    shutil.copytree(release, tmp_path, symlinks=True, dirs_exist_ok=True)
    return tmp_path / "aso", tmp_path / "data"


def test_the_catalog_names_the_release(released):
    _, data = released
    aso = json.loads((data / "CATALOG").read_text())["aso"]
    assert (aso["release"], aso["tag"]) == ("2.21.0", "v2.21.0")


def test_a_tree_without_a_tag_needs_the_release_that_it_leads_to(tmp_path):
    checkout, data = copy_checkout(tmp_path), tmp_path / "data"
    commit(checkout)
    refused = run_tool(make_catalog.main, checkout, "--data", data)
    assert (refused.returncode, data.exists()) == (1, False)
    assert "RELEASE=2.21" in refused.stderr
    take(checkout, data, "--release", "2.21")
    aso = json.loads((data / "CATALOG").read_text())["aso"]
    assert (aso["release"], "tag" in aso) == ("2.21", False)


def test_the_history_has_what_aso_states_else_the_release(released):
    _, data = released
    history = read_history(data)
    assert history[Name(GROUP, "v20240101", "Thing")] == Lifetime("2.1")
    assert history[Name(GROUP, "v20240101", "ThingsPart")] == Lifetime("2.3")
    assert history[Name(GROUP, "v20240101", "Tie")] == Lifetime("2.9")


def test_a_version_that_a_release_removed_stays_until_the_next_one(released):
    checkout, data = released
    (checkout / "v2/api/things/v1api20230101").rename(checkout / "v2/api/things/v20250101")
    change(checkout, "v2/api/things/v20250101/groupversion_info_gen.go", ('Version: "v1api20230101"', 'Version: "v2"'))
    commit(checkout, "v2.22.0")
    summary = take(checkout, data)
    assert f"- `{GROUP}` Thing: v20250101" in summary
    assert f"- `{GROUP}` Thing: v1api20230101" in summary
    assert read_history(data)[Name(GROUP, "v1api20230101", "Thing")].removed == "2.22"
    thing = read_index(data)["Thing"]
    assert (list(thing["versions"]), list(thing["removed"])) == (["v20240101", "v20250101"], ["v1api20230101"])

    catalog = Catalog(lambda name: (data / name).read_bytes())
    for version in ("v1api20230101", "v20230101"):
        assert catalog.kind(GVK(GROUP, version, "Thing")).api_version == "2024-01-01"
    assert catalog.versions(GROUP, "Thing") == ("v20240101", "v20250101")

    commit_again = take(checkout, data)
    assert "The facts are as they were." in commit_again
    assert list(read_index(data)["Thing"]["removed"]) == ["v1api20230101"]

    (checkout / "README").write_text("changed")
    commit(checkout, "v2.23.0")
    assert "The facts are as they were." in take(checkout, data)
    assert "removed" not in read_index(data)["Thing"]
    assert read_history(data)[Name(GROUP, "v1api20230101", "Thing")].removed == "2.22"


def test_both_spellings_of_a_version_stay_and_neither_if_one_is_still_served(tmp_path):
    checkout, data = copy_checkout(tmp_path), tmp_path / "data"
    for version in ("v1api20240101", "v1api20230101", "v20230101", "v20250101"):
        add_version(checkout, version)
    commit(checkout, "v2.21.0")
    take(checkout, data)
    for version in ("v1api20240101", "v1api20230101", "v20230101"):
        shutil.rmtree(checkout / "v2/api/things" / version)
    commit(checkout, "v2.22.0")
    take(checkout, data)
    assert list(read_index(data)["Thing"]["removed"]) == ["v1api20230101", "v20230101"]


def test_a_kind_that_is_gone_at_every_version_does_not_stay(released):
    checkout, data = released
    for version in ("v20240101", "v1api20230101"):
        (checkout / TIE.replace("v20240101", version)).unlink()
    commit(checkout, "v2.22.0")
    take(checkout, data)
    assert "Tie" not in read_index(data)
    assert read_history(data)[Name(GROUP, "v20240101", "Tie")].removed == "2.22"


def test_nothing_is_written_if_something_is_not_supported(released):
    checkout, data = released
    before = {file.name: file.read_bytes() for file in data.iterdir()}
    change(checkout, THING, ("Share *float64", "Share *complex128"))
    commit(checkout, "v2.22.0")
    assert run_tool(make_catalog.main, checkout, "--data", data).returncode == 1
    assert {file.name: file.read_bytes() for file in data.iterdir()} == before


def test_the_facts_and_the_summary_are_written_where_they_are_wanted(released, tmp_path):
    checkout, data = released
    take(checkout, data, "--facts", tmp_path / "facts", "--summary", tmp_path / "summary.md")
    facts = json.loads((tmp_path / "facts" / f"{GROUP}.json").read_text())
    assert facts["versions"].keys() == {"v20240101", "v1api20230101"}
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("# ASO 2.21.0, after 2.21.0\n")
    assert "lists of Microsoft.Things/things:" in summary


def test_what_a_fork_added_can_be_left_out(tmp_path):
    checkout, data = copy_checkout(tmp_path), tmp_path / "data"
    add_version(checkout, "v20250101preview")
    commit(checkout, "v2.21.0")
    take(checkout, data, "--without", f"{GROUP}/v20250101preview")
    assert list(read_index(data)["Thing"]["versions"]) == ["v20240101"]


def change_a_rule(checkout):
    change(checkout, THING, ("MaxLength=24", "MaxLength=20"))


def leave_out_a_folder(checkout):
    run_git(checkout, "update-index", "--refresh")  # of a copy: git leaves a file that may have changed
    run_git(checkout, "sparse-checkout", "set", "v2/azure-arm")


def break_yaml(checkout):
    with (checkout / "v2/azure-arm/things.yaml").open("a") as file:
        file.write("more: [\n")
    commit(checkout, "v2.22.0")


def write_a_list(checkout):
    (checkout / "v2/azure-arm/things.yaml").write_text("- one\n")
    commit(checkout, "v2.22.0")


def tag_an_older_release(checkout):
    (checkout / "README").write_text("older")
    commit(checkout, "v2.20.1")


def change_nothing(_):
    pass


# (edit, folder of the checkout, flags, message, why)
REFUSED = [
    (change_a_rule, "", (), f"aso: {THING} is not as HEAD has it", "an edit that is not committed"),
    (lambda checkout: (checkout / TIE).unlink(), "", (), f"{TIE} is not as HEAD has it", "a file that is gone"),
    (lambda checkout: add_version(checkout, "v20260101"), "", (), "v2/api/things/v20260101/", "a version not in git"),
    (leave_out_a_folder, "", (), "_gen.go is not as HEAD has it, and 9 more", "a sparse checkout without v2/api"),
    (change_nothing, "v2", (), "aso/v2: not the root of a git checkout", "a folder inside of the checkout"),
    (
        change_nothing,
        "",
        ("--release", "2.20"),
        "HEAD is v2.21.0, not ASO 2.20",
        "another release than that of the tag",
    ),
    (change_nothing, "", ("--release", "2.21; rm"), "RELEASE=2.21; rm: not a release of ASO", "no release"),
    (
        change_nothing,
        "",
        ("--summary", "/none/summary.md"),
        "/none/summary.md: the folder",
        "no folder for the summary",
    ),
    (tag_an_older_release, "", (), "The catalog is of ASO 2.21.0, which is newer than 2.20.1", "an older release"),
    (break_yaml, "", (), "v2/azure-arm/things.yaml:14: not YAML: ", "a file that is not YAML"),
    (write_a_list, "", (), "v2/azure-arm/things.yaml:1: not a map", "a file of another form"),
]


@pytest.mark.parametrize(("edit", "folder", "flags", "message", "why"), REFUSED)
def test_a_checkout_whose_facts_are_not_those_of_a_release_is_refused(released, edit, folder, flags, message, why):
    checkout, data = released
    before = {file.name: file.read_bytes() for file in data.iterdir()}
    edit(checkout)
    done = run_tool(make_catalog.main, checkout / folder, "--data", data, *flags)
    assert done.returncode == 1, why
    assert message in done.stderr, why
    assert "Traceback" not in done.stderr, why
    assert {file.name: file.read_bytes() for file in data.iterdir()} == before, why


def test_the_number_of_the_tag_may_be_named_too(released):
    checkout, data = released
    for number in ("2.21", "2.21.0"):
        assert "The facts are as they were." in take(checkout, data, "--release", number)
