"""Variables in whole runs: values of every origin, and what must not happen when one is missing."""

import asyncio

import pytest

from gitsync.agent.run.referenced_values import read_declared
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import Manifests, SourceObjects
from gitsync.model.problem import Level
from gitsync.model.secret import Secret
from gitsync.model.unit import Substitution, Unit, UnitOptions, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.model.verdict import Verdict
from gitsync.repository.secrets.stores import SecretStores
from tests.support.memory_places import MemorySource
from tests.support.programs import needs_build_tool
from tests.support.world import GROUP_ID, VNET_ID, World, of

SCRIPT = """\
units:
  - path: .
    substitute:
      RESOURCE_GROUP: core
      LOCATION: westeurope
"""
GROUP = """\
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata:
      name: ${RESOURCE_GROUP}
    spec:
      location: ${LOCATION}
    """
VNET = """\
    apiVersion: network.azure.com/v1api20240301
    kind: VirtualNetwork
    metadata:
      name: ${CLUSTER_NAME/-/}
    spec:
      location: ${AZURE_LOCATION:=westeurope}
      owner:
        name: ${RESOURCE_GROUP}
      flowTimeoutInMinutes: ${MINUTES:-5}
      addressSpace:
        addressPrefixes: ${PREFIXES}
    """
IDENTITY = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: app-NUMBER-$RESOURCE_GROUP
    spec:
      location: $LOCATION
      owner:
        name: $RESOURCE_GROUP
    """
GIVEN = (("CLUSTER_NAME", "h-ub"), ("PREFIXES", "[10.0.0.0/16]"))
TOKEN = "tok3n-of-the-cluster"
NAMES = Address(ObjectKind.SECRET, "default", "cluster")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_manifests_that_were_meant_for_a_script(world):
    """Plain variables, defaults and numbers, with values of the source and of the operator."""
    world.says(gitsync=SCRIPT, group=GROUP, vnet=VNET)
    assert world.sync(variables=GIVEN).exit_code == 0
    vnet = world.read(VNET_ID, "2024-03-01")
    assert vnet["properties"]["flowTimeoutInMinutes"] == 5
    assert vnet["properties"]["addressSpace"] == {"addressPrefixes": ["10.0.0.0/16"]}

    again = world.sync(variables=GIVEN)
    assert (again.exit_code, world.writes) == (0, []), "the second run is silent"

    forgotten = world.sync(prune=True)
    assert (forgotten.exit_code, world.sent("DELETE")) == (1, []), "without its name, it may be any resource"
    assert {problem.code for problem in forgotten.problems} >= {"VariableNotSet"}

    world.says(group=GROUP, vnet=VNET)
    assert (world.sync(prune=True).exit_code, world.writes) == (1, []), "nor if nothing turns variables on"

    world.says(gitsync=SCRIPT, group=GROUP)
    world.sync(prune=True, variables=GIVEN)
    assert world.sent("DELETE") == [VNET_ID], "what was removed is pruned"


def test_manifests_that_were_meant_for_envsubst(world):
    """Variables without braces: named, then turned on for the folder in gitsync.yaml, planned, synced and removed."""
    group, vnet = (text.replace("${RESOURCE_GROUP}", "$RESOURCE_GROUP") for text in (GROUP, VNET))
    others = {f"i{number:02}": IDENTITY.replace("NUMBER", f"{number:02}") for number in range(15)}
    world.says(group=group, vnet=vnet, **others)
    named = world.sync(prune=True, variables=GIVEN)
    assert (named.exit_code, world.writes) == (1, [])
    assert "variables: envsubst" in next(
        problem.hint for problem in named.problems if problem.code == "VariableWithoutBraces"
    )

    script = SCRIPT.replace("substitute:", "variables: envsubst\n    substitute:")
    world.says(gitsync=script, group=group, vnet=vnet, **others)
    assert len(world.plan(variables=GIVEN).results) == 17
    assert {result.verdict for result in world.plan(variables=GIVEN).results} == {Verdict.CREATE}
    assert world.sync(variables=GIVEN).exit_code == 0
    assert (world.sync(variables=GIVEN).exit_code, world.writes) == (0, []), "the second run is silent"

    world.says(group=group, vnet=vnet, **others)
    assert (world.sync(prune=True, variables=GIVEN).exit_code, world.writes) == (1, []), "nothing counts as removed"

    world.says(gitsync=script, group=group, **others)
    world.sync(prune=True, variables=GIVEN)
    assert world.sent("DELETE") == [VNET_ID], "what was removed is pruned"


def test_one_variable_is_one_problem_of_the_report(world):
    world.says(gitsync=SCRIPT, group=GROUP, one=VNET, two=VNET.replace("${CLUSTER_NAME/-/}", "two"))
    report = world.plan(variables=(("CLUSTER_NAME", "hub"),))
    assert [problem.code for problem in report.problems] == ["VariableNotSet"]
    assert "one.yaml:11, two.yaml:11" in report.problems[0].message


TAGGED = GROUP.replace("${RESOURCE_GROUP}", "core") + "  tags: {note: '${TOKEN}', id: '${TENANT}'}\n"


def from_secret(world, **options):
    """The unit of the group, with its variables from a Secret."""
    reference = ValuesReference(kind="Secret", namespace="default", name="cluster", **options)
    substitution = Substitution(values={"LOCATION": "westeurope"}, references=(reference,))
    unit = Unit(
        name="apps", path="", kind=UnitKind.FOLDER, file="group.yaml", options=UnitOptions(substitution=substitution)
    )
    world.units = {"group.yaml": unit}
    return world


def secret(**values):
    members = "".join(f"      {name}: {value}\n" for name, value in values.items())
    return f"    apiVersion: v1\n    kind: Secret\n    metadata: {{name: cluster}}\n    stringData:\n{members}"


def test_a_value_from_a_secret_shows_only_where_it_names_something(world):
    from_secret(world).says(group=TAGGED, secret=secret(TOKEN=TOKEN, TENANT="ten4nt-of-all"))
    settings = {"digest_key": Secret("k" * 32)}
    report = world.sync(**settings)
    assert (report.exit_code, world.read(GROUP_ID)["tags"]["note"]) == (0, TOKEN)
    written = "".join(path.read_text() for path in world.state.rglob("*") if path.is_file())
    assert (TOKEN in written, "ten4nt-of-all" in written) == (False, True)
    assert TOKEN not in repr(report)

    assert (world.sync(**settings).exit_code, world.writes) == (0, [])

    world.says(group=TAGGED, secret=secret(TOKEN=f"new-{TOKEN}", TENANT="ten4nt-of-all"))
    (difference,) = of(world.plan(**settings), "ResourceGroup").differences
    assert (difference.path, difference.rule) == ("/tags/note", "the secret changed")
    world.sync(**settings)
    assert world.read(GROUP_ID)["tags"]["note"] == f"new-{TOKEN}"


@pytest.mark.parametrize(
    ("refuses", "options", "code", "why"),
    [
        (None, {}, "VariableNotKnown", "it is in no source"),
        (SecretStoreError("The vault is closed."), {"optional": True}, "VariableNotKnown", "it cannot be read"),
    ],
)
def test_a_value_that_no_source_has_is_not_replaced_by_its_default(world, refuses, options, code, why):
    from_secret(world, **options).says(group=TAGGED.replace("${TENANT}", "${TENANT:=default}"))
    world.secret_stores = SecretStores(order=("vault",), sources={"vault": MemorySource("vault", {}, refuses=refuses)})
    report = world.sync()
    assert (report.exit_code, world.writes) == (1, [])
    assert {problem.code for problem in report.problems if problem.code.startswith("Variable")} == {code}, why


def test_a_missing_value_is_empty_where_it_identifies_nothing_and_holds_the_deletes_of_its_unit(world):
    """Here the values of a Secret that may be missing: a tag is empty, and a name is an error."""
    spare = TAGGED.replace("core", "spare")
    from_secret(world, optional=True)
    world.units["spare.yaml"] = world.units["group.yaml"]
    complete = {"group": TAGGED, "spare": spare, "secret": secret(TOKEN="t", TENANT="t")}
    world.says(**complete).sync(prune=True)

    report = world.says(group=TAGGED.replace("${TENANT}", "x")).sync(prune=True)
    assert (report.exit_code, world.read(GROUP_ID)["tags"], world.sent("DELETE")) == (0, {"note": "", "id": "x"}, [])
    (problem,) = (problem for problem in report.problems if problem.code == "VariableNotSet")
    assert (problem.level, problem.field) == (Level.WARNING, "spec.tags.note")
    assert of(report, "ResourceGroup", "spare").condition.reason == "PruneHeld"

    world.says(**complete).sync(prune=True)
    report = world.says(group=TAGGED).sync(prune=True)
    assert (report.exit_code, world.writes) == (1, [])
    assert {(problem.level, problem.field) for problem in report.problems if problem.code == "VariableNotSet"} == {
        (Level.ERROR, "spec.tags.id"),
        (Level.WARNING, "spec.tags.note"),
    }


def test_a_source_that_does_not_answer_does_not_hold_up_the_run(world):
    class Hung(MemorySource):
        async def read(self, address, keys):
            self.requested.append(address)
            await asyncio.Event().wait()

    from_secret(world).says(group=TAGGED)
    hung = Hung("vault", {})
    world.secret_stores = SecretStores(order=("vault",), sources={"vault": hung})
    report = world.sync(resource_timeout=0.05)
    assert (report.exit_code, world.writes, NAMES in hung.requested) == (1, [], True)
    assert any("timed out waiting for Secret default/cluster" in problem.message for problem in report.problems)


def test_a_plan_reads_no_remote_source(world):
    from_secret(world).says(group=TAGGED)
    vault = MemorySource("vault", {NAMES: {"TOKEN": Secret(TOKEN), "TENANT": Secret("me")}}, is_remote=True)
    world.secret_stores = SecretStores(order=("vault",), sources={"vault": vault})
    report = world.plan()
    assert (report.exit_code, vault.requested) == (1, [])
    unknown = [problem for problem in report.problems if problem.code == "VariableNotKnown"]
    levels = {problem.message.split()[5]: problem.level.value for problem in unknown}
    assert levels == {"TOKEN": "warning", "TENANT": "error"}, "an id is needed, a tag is not"

    assert world.sync().exit_code == 0
    assert world.read(GROUP_ID)["tags"] == {"note": TOKEN, "id": "me"}


def test_a_config_map_of_the_manifests_gives_plain_values(world):
    world.says(
        group=TAGGED,
        values="    {apiVersion: v1, kind: ConfigMap, metadata: {name: cluster}, data: {TOKEN: plain, TENANT: one}}\n",
    )
    reference = ValuesReference(kind="ConfigMap", namespace="default", name="cluster")
    options = UnitOptions(substitution=Substitution(values={"LOCATION": "westeurope"}, references=(reference,)))
    world.units = {"group.yaml": Unit(name="apps", path="", file="group.yaml", options=options)}
    world.sync()
    assert world.read(GROUP_ID)["tags"] == {"note": "plain", "id": "one"}


DECLARED = Manifests(
    objects=SourceObjects(
        config_maps={("a", "vars"): {"A": "two\nlines"}},
        secrets={("a", "vars"): {"A": Secret("hush\n"), "B": Secret("b")}},
    )
)


@pytest.mark.parametrize(
    ("kind", "name", "optional", "values", "is_known", "why"),
    [
        ("ConfigMap", "vars", False, {"A": "twolines"}, True, "plain values"),
        ("Secret", "vars", False, {"A": Secret("hush"), "B": Secret("b")}, True, "secret values"),
        ("Secret", "other", False, {}, False, "another source may have it"),
        ("Secret", "other", True, {}, True, "an optional one counts as missing"),
    ],
)
def test_an_offline_command_has_the_values_of_manifests(kind, name, optional, values, is_known, why):
    reference = ValuesReference(kind=kind, namespace="a", name=name, optional=optional)
    found = read_declared([reference], DECLARED)[reference]
    assert (found.values, not found.fault) == (values, is_known), why


TEAM = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: identities
  namespace: ${NAMESPACE}
spec:
  azureName: identities-${NAMESPACE}-${ENV}-rg
  location: ${LOCATION:=westeurope}
"""
ENTRIES = """\
units:
  - {path: one, substitute: {NAMESPACE: one, ENV: dev}}
  - {path: two, substitute: {NAMESPACE: two}}
"""


@needs_build_tool
def test_kustomizations_of_one_base_have_values_of_their_own(world):
    files = {
        "base/kustomization.yaml": "resources: [rg.yaml]\n",
        "base/rg.yaml": TEAM,
        "one/kustomization.yaml": "resources: [../base]\n",
        "two/kustomization.yaml": "resources: [../base]\n",
    }
    for path, text in files.items():
        (world.folder / path).parent.mkdir(exist_ok=True)
        (world.folder / path).write_text(text)
    report = world.says(gitsync=ENTRIES).sync()
    assert [path.rpartition("/")[2] for path in world.sent("PUT")] == ["identities-one-dev-rg"]
    (problem,) = report.problems
    assert (problem.code, problem.path, problem.line, problem.unit) == ("VariableNotSet", "base/rg.yaml", 7, "two")

    assert world.says(gitsync=ENTRIES.replace("two}", "two, ENV: dev}")).sync().exit_code == 0
    assert [path.rpartition("/")[2] for path in world.sent("PUT")] == ["identities-two-dev-rg"]
    assert (world.sync().exit_code, world.writes) == (0, [])
