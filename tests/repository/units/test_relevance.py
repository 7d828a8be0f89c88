"""Which kustomizations are built: those that may have anything for gitsync, and in doubt all."""

import shutil

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize import build
from gitsync.repository.units.relevance import Relevance
from gitsync.repository.units.unit_builds import build_units
from tests.repository.units.trees import GROUP, MemoryTree

WEB = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n"
FOREIGN = {"a/kustomization.yaml": "resources: [web.yaml]\n", "a/web.yaml": WEB}
SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: %s}\nstringData: {password: x}\n"
SERVER = b"apiVersion: dbforpostgresql.azure.com/v1api20221201\nkind: FlexibleServer\nspec:\n  administratorLoginPassword: {name: %s, key: password}\n"
RULE = b"apiVersion: network.azure.com/v1api20201101\nkind: NetworkSecurityGroup\nmetadata: {name: a}\n"

SKIPPED = [
    (FOREIGN, "one of an application"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nnamePrefix: p-\nimages: [{name: a, newTag: b}]\nreplicas: [{name: web, count: 2}]\n"}, "changes of names and images"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\npatches: [{path: p.yaml}]\n", "a/p.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2}\n"}, "a patch in a file"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: replace, path: /spec/replicas, value: 3}\n"}, "a patch in place"),
    ({"a/kustomization.yaml": "resources: [../base]\ncomponents: [../part]\n", "base/kustomization.yaml": "resources: [web.yaml]\n", "base/web.yaml": WEB, "part/kustomization.yaml": "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\ncommonLabels: {a: b}\n"}, "a base and a component"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: settings, files: [app.conf]}]\n", "a/app.conf": "a=b"}, "a ConfigMap that nothing uses"),
    ({"a/kustomization.yaml": "resources: [s.yaml]\n", "a/s.yaml": SECRET % "mine"}, "a Secret that nothing uses"),
    ({"a/kustomization.yaml": "resources: [n.yaml]\n", "a/n.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n"}, "a Namespace that says nothing"),
    ({"a/kustomization.yaml": "resources: [l.yaml]\n", "a/l.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}}\n"}, "a list of theirs"),
    ({**FOREIGN, "a/web.yaml": WEB + "# https://portal.azure.com/x\n"}, "an address is no group"),
    ({**FOREIGN, "b/g.yaml": GROUP, "a/g.yaml": GROUP}, "manifests that it does not name"),
]  # fmt: skip

BUILT = [
    ({**FOREIGN, "a/web.yaml": GROUP}, "a resource"),
    ({**FOREIGN, "a/web.yaml": GROUP.replace(b"resources.azure.com", b"resource.azure.co")}, "a group within two letters"),
    ({**FOREIGN, "a/web.yaml": "kind: ResourceGroup\nmetadata: {name: a}\nspec: {location: b}\n"}, "no apiVersion"),
    ({**FOREIGN, "a/web.yaml": '{"apiVersion": "resources\\u002eazure\\u002ecom/v1api20200601", "kind": "ResourceGroup", "metadata": {"name": "a"}}'}, "a group that no search for text finds"),
    ({**FOREIGN, "a/web.yaml": "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: resources.azur.com/v1api20200601, kind: ResourceGroup}\n"}, "an item of a list"),
    ({**FOREIGN, "a/web.yaml": WEB + "---\napiVersion: v1\nkind: Secrt\nmetadata: {name: a}\n"}, "a misspelt Secret"),
    ({**FOREIGN, "a/web.yaml": WEB + "kind: ResourceGroup\napiVersion: x/v1\n"}, "a lost separator"),
    ({**FOREIGN, "a/web.yaml": "kind: Deployment\n"}, "no object: the tool says so"),
    ({**FOREIGN, "a/web.yaml": "a: b: c\n"}, "no YAML: the tool says so"),
    ({"a/kustomization.yaml": "resources: []\n"}, "nothing at all: the tool says so"),
    ({**FOREIGN, "a/web.yaml": "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"}, "an object that leads on"),
    ({**FOREIGN, "a/web.yaml": "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureASOManagedCluster\nmetadata: {name: a}\nspec: {resources: [{kind: ManagedCluster}]}\n"}, "an object of CAPZ"),
    ({**FOREIGN, "a/web.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: web, annotations: {serviceoperator.azure.com/credential-from: x}}\n"}, "a Namespace that counts for its resources"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: c, files: [g.txt]}]\n", "a/g.txt": GROUP}, "resources in a ConfigMap"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nconfigMapGenerator: [{name: c, files: [lost.txt]}]\n"}, "a file that is not there: the tool says so"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\npatches: [{path: lost.yaml}]\n"}, "a patch that is not there: the tool says so"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment}\n  options: {allowKindChange: true}\n  patch: |\n    kind: ResourceGroup\n"}, "a patch of the kind"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    - op: replace\n      path: /apiVersion\n      value: x\n"}, "a patch of the apiVersion"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\ntransformers: [t.yaml]\n", "a/t.yaml": "kind: PrefixTransformer\n"}, "a transformer"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\ngenerators: [t.yaml]\n", "a/t.yaml": "kind: ConfigMapGenerator\n"}, "a generator"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nreplacements: [{source: {kind: A}, targets: []}]\n"}, "replacements"),
    ({**FOREIGN, "a/kustomization.yaml": "resources: [web.yaml]\nfields: of a later version\n"}, "a field that is not known"),
    ({"a/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": "resources: [web.yaml]\nvars: []\n", "base/web.yaml": WEB}, "a field of a base that is not understood"),
    ({"a/kustomization.yaml": "resources: [../base]\n", "base/kustomization.yaml": "resources: [g.yaml]\n", "base/g.yaml": GROUP}, "a resource of a base"),
]  # fmt: skip


def unit(**fields):
    return Unit(name="a", path="a", kind=UnitKind.KUSTOMIZATION, file="a/kustomization.yaml", **fields)


def built(files, *others, relevance=None, **fields):
    reader = KustomizationReader(MemoryTree(files))
    return build_units([unit(**fields), *others], reader, Builds(), relevance)


@pytest.mark.parametrize(("files", "why"), SKIPPED, ids=[row[-1] for row in SKIPPED])
def test_what_has_nothing_for_gitsync_is_not_built(tool, files, why):
    tool("kustomize", "exit 1")
    found = built(files)
    assert (found.skipped, found.problems, found.files) == ({"a/kustomization.yaml"}, (), {}), why
    assert {"a/kustomization.yaml"} < found.used or "components" in files["a/kustomization.yaml"], "its files are used"


@pytest.mark.skipif(not shutil.which("kustomize"), reason="kustomize is not installed")
@pytest.mark.parametrize(("files", "why"), SKIPPED, ids=[row[-1] for row in SKIPPED])
def test_its_build_would_have_nothing(files, why):
    contents = {path: text.encode() if isinstance(text, str) else text for path, text in files.items()}
    manifests = read_manifests({"a.yaml": build("a/kustomization.yaml", contents)})
    assert (manifests.resources, manifests.problems) == ((), ()), why
    assert not any(document.is_rejected for document in manifests.unread)


@pytest.mark.parametrize(("files", "why"), BUILT, ids=[row[-1] for row in BUILT])
def test_in_doubt_a_unit_is_built(tool, files, why):
    tool("kustomize", "echo 'kind: A'")
    found = built(files)
    assert (list(found.files), found.skipped) == (["a/kustomization.yaml"], frozenset()), why


def test_what_gitsync_yaml_names_is_built(tool):
    tool("kustomize", "echo 'kind: A'")
    assert built(FOREIGN, is_named=True).files


USED = [
    ("login", SERVER % b"login", True, "by its name"),
    ("login", SERVER % b"dev-login-5f7b", True, "with a prefix and a hash"),
    ("login", SERVER % b"other", False, "another one"),
    ("login", b"# login\n" + WEB.encode(), False, "only an application uses it"),
    ("login", SERVER % b"${NAME}", True, "a name that is known once variables are replaced"),
    ("pass-${ENV}", SERVER % b"x", True, "a name of its own that is not known yet"),
    ("aso-credential", b"", True, "the credential of a namespace"),
    ("login", b"apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\n", True, "objects that may lead to any"),
]


@pytest.mark.parametrize(("name", "resource", "is_built", "why"), USED, ids=[row[-1] for row in USED])
def test_a_secret_is_built_if_a_resource_may_use_it(tool, name, resource, is_built, why):
    tool("kustomize", "echo 'kind: A'")
    relevance = Relevance()
    relevance.add_resources([resource])
    files = {"a/kustomization.yaml": "resources: [s.yaml]\n", "a/s.yaml": SECRET % name}
    assert bool(built(files, relevance=relevance).files) == is_built, why


@pytest.mark.parametrize(("name", "expected"), [("login", {"a", "b"}), ("other", {"b"})])
def test_a_resource_of_another_unit_may_use_it(tool, name, expected):
    tool("kustomize", "echo 'kind: A'")
    files = {
        "a/kustomization.yaml": "secretGenerator: [{name: login, literals: [a=b]}]\n",
        "b/kustomization.yaml": "resources: [server.yaml]\n",
        "b/server.yaml": SERVER % name.encode(),
    }
    other = Unit(name="b", path="b", kind=UnitKind.KUSTOMIZATION, file="b/kustomization.yaml")
    assert {unit.name for unit in built(files, other).units.values()} == expected
