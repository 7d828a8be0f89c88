"""Made-up repositories in the shapes that real ones with ASO manifests have: files by path."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Shape = Mapping[str, str]

CLUSTER_API = "cluster.x-k8s.io/v1beta1"
CAPZ = "infrastructure.cluster.x-k8s.io/v1beta1"


def kustomization(*resources: str, more: str = "") -> str:
    entries = "".join(f"- {resource}\n" for resource in resources)
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{entries}{more}"


def group(name: str, *, namespace: str = "default", annotations: str = "{}", **spec: str) -> str:
    fields = ", ".join(f"{key}: '{value}'" for key, value in {"location": "westeurope", **spec}.items())
    return (
        "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
        f"metadata: {{name: '{name}', namespace: '{namespace}', annotations: {annotations}}}\n"
        f"spec: {{{fields}}}\n"
    )


def account(name: str, owner: str, *, namespace: str = "default", azure_name: str = "") -> str:
    return (
        "apiVersion: storage.azure.com/v1api20230101\nkind: StorageAccount\n"
        f"metadata: {{name: '{name}', namespace: '{namespace}'}}\n"
        f"spec: {{owner: {{name: '{owner}'}}, azureName: '{azure_name or name}', location: westeurope, kind: StorageV2,"
        " sku: {name: Standard_LRS}}\n"
    )


def identity(name: str, owner: str, *, namespace: str = "default") -> str:
    return (
        "apiVersion: managedidentity.azure.com/v1api20230131\nkind: UserAssignedIdentity\n"
        f"metadata: {{name: '{name}', namespace: '{namespace}'}}\n"
        f"spec: {{owner: {{name: '{owner}'}}, location: westeurope}}\n"
    )


def flux(name: str, path: str, more: str = "") -> str:
    return (
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n"
        f"metadata: {{name: {name}, namespace: flux-system}}\n"
        f"spec:\n  interval: 5m\n  path: {path}\n  prune: true\n"
        f"  sourceRef: {{kind: GitRepository, name: flux-system}}\n{more}"
    )


def cluster_variables(environment: str) -> str:
    return (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-vars, namespace: flux-system}\n"
        f"data: {{ENVIRONMENT: {environment}, REGION: westeurope}}\n"
    )


def joined(*documents: str) -> str:
    return "---\n".join(documents)


def flux_tree() -> Shape:
    """One base for two clusters, each with values of its own; the base of the network comes first."""
    files = {
        "infra/base/kustomization.yaml": kustomization("group.yaml", "account.yaml"),
        "infra/base/group.yaml": group("shop-${ENVIRONMENT}", namespace="shop", location="${REGION}"),
        "infra/base/account.yaml": account("shop", "shop-${ENVIRONMENT}", namespace="shop", azure_name="contoso${TIER}${ENVIRONMENT}"),
    }  # fmt: skip
    values = "  postBuild:\n    substitute: {TIER: web}\n    substituteFrom: [{kind: ConfigMap, name: cluster-vars}]\n"
    for environment in ("prod", "dev"):
        files |= {
            f"clusters/{environment}/cluster-vars.yaml": cluster_variables(environment),
            f"clusters/{environment}/infra.yaml": flux("infra", f"./infra/{environment}", f"  targetNamespace: shop-{environment}\n{values}  dependsOn: [{{name: network}}]\n"),
            f"clusters/{environment}/network.yaml": flux("network", f"./network/{environment}"),
            f"infra/{environment}/kustomization.yaml": kustomization("../base"),
            f"network/{environment}/group.yaml": group(f"network-{environment}"),
        }  # fmt: skip
    return files


RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: ingress, namespace: ingress}
spec:
  chart: {spec: {chart: ingress-nginx, sourceRef: {kind: HelmRepository, name: ingress-nginx}}}
  values: {host: "*.${DOMAIN}", class: nginx}
"""
TO_RELEASE = """\
  patches:
  - target: {kind: HelmRelease, name: ingress}
    patch: |
      - op: replace
        path: /spec/values/class
        value: ${INGRESS_CLASS}
"""
APPLICATION = """\
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: web}
data: {password: <BASE64>}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: "${APP}-settings", namespace: web}
data: {port: 8080}
"""


def unset_variables() -> Shape:
    """A tree of Flux with variables that only the cluster gives: in a patch and the values of a chart elsewhere, in
    objects of applications, some of which are declared twice, in tags, and in a name in Azure.
    """
    web = "apiVersion: v1\nkind: Namespace\nmetadata: {name: web, labels: {team: '${TEAM}'}}\n"
    root = flux("flux-system", "./clusters/prod", "  postBuild: {substitute: {ENVIRONMENT: prod}}\n")
    values = "  postBuild: {substituteFrom: [{kind: ConfigMap, name: cluster-vars}]}\n"
    return {
        "clusters/prod/flux-system/gotk-sync.yaml": root,
        "clusters/prod/cluster-vars.yaml": cluster_variables("prod"),
        "clusters/prod/apps.yaml": flux("apps", "./apps", f"{TO_RELEASE}{values}"),
        "clusters/prod/infra.yaml": flux("infra", "./infra", f"{TO_RELEASE}{values}"),
        "apps/ingress.yaml": RELEASE,
        "apps/web.yaml": joined(web, APPLICATION, "apiVersion: v1\nkind: Secret\nmetadata: {name: '<NAME>'}\n"),
        "infra/web.yaml": joined(web, APPLICATION.replace("<BASE64>", "c2VjcmV0")),
        "apps/account.yaml": joined(
            group("apps-${ENVIRONMENT}", location="${REGION}"), account("media", "apps-${ENVIRONMENT}", azure_name="media${SUFFIX}")
        ),
        "infra/group.yaml": group("infra-${ENVIRONMENT}", location="${REGION}", tags="${TAGS}").replace("'${TAGS}'", '{owner: "team-${TEAM}"}'),
    }  # fmt: skip


WITH_VALUES = cluster_variables("prod").replace("REGION: westeurope", "REGION: westeurope, SUFFIX: prod01")
"""The ConfigMap of the cluster with the value that the hint requests."""


def bootstrap_by_overlay() -> Shape:
    """One base for all clusters, in which an overlay for each gives the object of the bootstrap its path and its
    variables. The Kustomizations beside it have those variables in their paths.
    """
    patch = "patches:\n- target: {{kind: Kustomization, name: flux-system}}\n  patch: |\n    - {{op: replace, path: /spec/path, value: ./clusters/{0}}}\n    - {{op: add, path: /spec/postBuild, value: {{substitute: {{ENVIRONMENT: {0}, REGION: westeurope}}}}}}\n"  # fmt: skip
    inherited = "  postBuild:\n    substitute: {ENVIRONMENT: '${ENVIRONMENT}', REGION: '${REGION}'}\n"
    files = {
        "clusters/base/flux-system/gotk-sync.yaml": flux("flux-system", "./clusters/base"),
        "clusters/base/infra.yaml": flux("infra", "./infra/${ENVIRONMENT}", inherited),
        "clusters/base/network.yaml": flux("network", "./network", inherited),
        "clusters/base/kustomization.yaml": kustomization("flux-system/gotk-sync.yaml", "infra.yaml", "network.yaml"),
        "infra/base/kustomization.yaml": kustomization("group.yaml"),
        "infra/base/group.yaml": group("infra-${ENVIRONMENT}", location="${REGION}"),
        "network/group.yaml": group("network-${ENVIRONMENT}", location="${REGION}"),
    }
    for environment in ("dev", "prod"):
        files |= {
            f"clusters/{environment}/kustomization.yaml": kustomization("../base", more=patch.format(environment)),
            f"infra/{environment}/kustomization.yaml": kustomization("../base"),
        }
    return files


def files_beside_the_root() -> Shape:
    """A kustomization of an environment that names a file far outside of its folder."""
    return {
        "services/environments/dev/01/kustomization.yaml": kustomization("../../../adp/group.yaml", "identity.yaml"),
        "services/environments/dev/01/identity.yaml": identity("adp", "adp"),
        "services/adp/group.yaml": group("adp"),
    }


def files_beside_the_root_as_flux() -> Shape:
    """The same, with the option for it."""
    return {**files_beside_the_root(), "gitsync.yaml": "units: [{path: services, loadRestrictor: none}]\n"}


def files_beside_the_root_as_kustomize() -> Shape:
    """The same, with the option against it."""
    return {**files_beside_the_root(), "gitsync.yaml": "units: [{path: services, loadRestrictor: rootOnly}]\n"}


def broken_neighbours() -> Shape:
    """Kustomizations of other teams that do not build, among thousands of files without any ASO kind."""
    services = {f"apps/service{i}/deployment.yaml": f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: s{i}}}\n" for i in range(50)}  # fmt: skip
    return {
        **services,
        "apps/identity/kustomization.yaml": kustomization("https://example.com/operator/install.yaml"),
        "apps/broken/kustomization.yaml": "resources:\n- deployment.yaml\n  - service.yaml\n",
        "apps/orphan/kustomization.yaml": kustomization("../removed-base"),
        "azure/groups.yaml": joined(*(group(f"team-{i}") for i in range(20))),
        "azure/data/kustomization.yaml": kustomization("accounts.yaml"),
        "azure/data/accounts.yaml": joined(*(account(f"data{i}", f"team-{i}") for i in range(5))),
    }


def one_group_in_many_namespaces() -> Shape:
    """The group of all identities, which every team includes in a namespace of its own."""
    detach = "{serviceoperator.azure.com/reconcile-policy: detach-on-delete}"
    files = {
        "base/workload-identity/rg.yaml": group("identities", namespace="${NAMESPACE}", annotations=detach, azureName="identities-${ENV}-rg"),
        "base/workload-identity/kustomization.yaml": kustomization("rg.yaml"),
        "gitsync.yaml": "units:\n" + "".join(f"- {{path: teams/t{i}, substitute: {{NAMESPACE: team-{i}, ENV: dev}}}}\n" for i in range(3)),
    }  # fmt: skip
    for i in range(3):
        files |= {
            f"teams/t{i}/kustomization.yaml": kustomization("../../base/workload-identity", "identity.yaml"),
            f"teams/t{i}/identity.yaml": identity(f"t{i}", "identities", namespace=f"team-{i}"),
        }
    return files


def plain_variables() -> Shape:
    """Manifests for a script that runs envsubst over them."""
    return {
        "deploy.sh": "export RESOURCE_GROUP=shop LOCATION=westeurope\nenvsubst < group.yaml | kubectl apply -f -\n",
        "group.yaml": group("$RESOURCE_GROUP", location="${LOCATION}"),
        "account.yaml": account("logs", "${RESOURCE_GROUP}"),
    }


def variables_of_envsubst() -> Shape:
    """Seventeen of them, in a folder named after their purpose."""
    identities = {
        f"identities/i{i:02}.yaml": identity(f"i{i:02}-$RESOURCE_GROUP", "$RESOURCE_GROUP").replace(
            "location: westeurope", "location: $LOCATION"
        )
        for i in range(15)
    }
    return {**plain_variables(), **identities, "gitsync.yaml": "units: [{path: ., variables: envsubst}]\n"}


def owner_left_out() -> Shape:
    """A kustomization that forgets the file with the owner."""
    return {
        "prod/kustomization.yaml": kustomization("account.yaml", more="namespace: team\n"),
        "prod/account.yaml": account("logs", "core"),
        "prod/core.yaml": group("core"),
    }


def braced_variables() -> Shape:
    """The same, with braces around every variable."""
    files = plain_variables()
    return {**files, "group.yaml": files["group.yaml"].replace("$RESOURCE_GROUP", "${RESOURCE_GROUP}")}


CAPZ_TREE = f"""\
apiVersion: {CLUSTER_API}
kind: Cluster
metadata: {{name: "${{CLUSTER_NAME}}", namespace: default}}
spec:
  controlPlaneRef: {{apiVersion: {CAPZ}, kind: AzureASOManagedControlPlane, name: "${{CLUSTER_NAME}}"}}
  infrastructureRef: {{apiVersion: {CAPZ}, kind: AzureASOManagedCluster, name: "${{CLUSTER_NAME}}"}}
---
apiVersion: {CAPZ}
kind: AzureASOManagedControlPlane
metadata: {{name: "${{CLUSTER_NAME}}", namespace: default}}
spec:
  version: ${{KUBERNETES_VERSION}}
  resources:
  - apiVersion: containerservice.azure.com/v1api20231001
    kind: ManagedCluster
    metadata:
      name: ${{CLUSTER_NAME}}
      annotations: {{serviceoperator.azure.com/credential-from: "${{ASO_CREDENTIAL_SECRET_NAME}}"}}
    spec:
      dnsPrefix: ${{CLUSTER_NAME/-/}}
      location: ${{AZURE_LOCATION:=westeurope}}
      owner: {{name: "${{CLUSTER_NAME}}"}}
---
apiVersion: {CAPZ}
kind: AzureASOManagedCluster
metadata: {{name: "${{CLUSTER_NAME}}", namespace: default}}
spec:
  resources:
  - apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {{name: "${{CLUSTER_NAME}}"}}
    spec: {{location: "${{AZURE_LOCATION:=westeurope}}"}}
---
apiVersion: {CAPZ}
kind: AzureASOManagedMachinePool
metadata: {{name: "${{CLUSTER_NAME}}-pool0", namespace: default}}
spec:
  resources:
  - apiVersion: containerservice.azure.com/v1api20231001
    kind: ManagedClustersAgentPool
    metadata: {{name: "${{CLUSTER_NAME}}-pool0"}}
    spec:
      azureName: pool0
      owner: {{name: "${{CLUSTER_NAME}}"}}
      mode: System
      type: VirtualMachineScaleSets
      vmSize: ${{AZURE_NODE_MACHINE_TYPE}}
      count: ${{WORKER_MACHINE_COUNT:=2}}
"""

CLUSTER_CLASS = f"""\
apiVersion: {CLUSTER_API}
kind: ClusterClass
metadata: {{name: aks}}
spec:
  patches:
  - name: group
    definitions:
    - selector: {{apiVersion: {CAPZ}, kind: AzureASOManagedClusterTemplate}}
      jsonPatches:
      - op: replace
        path: /spec/template/spec
        valueFrom:
          template: |
            resources:
            - apiVersion: resources.azure.com/v1api20200601
              kind: ResourceGroup
              metadata:
                name: "{{{{ .builtin.cluster.name }}}}"
              spec:
                location: westeurope
---
apiVersion: {CAPZ}
kind: AzureASOManagedClusterTemplate
metadata: {{name: aks}}
spec:
  template:
    spec: {{}}
---
apiVersion: {CAPZ}
kind: AzureASOManagedControlPlaneTemplate
metadata: {{name: aks}}
spec:
  template:
    spec:
      resources:
      - apiVersion: containerservice.azure.com/v1api20240901
        kind: ManagedCluster
        spec: {{location: westeurope, dnsPrefix: aks}}
"""


CLUSTERCTL_VALUES = (
    "CLUSTER_NAME=prod-a",
    "KUBERNETES_VERSION=v1.30.1",
    "ASO_CREDENTIAL_SECRET_NAME=aso",
    "AZURE_NODE_MACHINE_TYPE=Standard_D2s_v3",
)


def clusterctl_templates() -> Shape:
    """A template for clusterctl, whose variables the operator gives, and a kustomization over it."""
    return {
        "templates/aks/kustomization.yaml": kustomization("cluster.yaml", more="sortOptions: {order: fifo}\n"),
        "templates/aks/cluster.yaml": CAPZ_TREE,
    }


def capz_objects() -> Shape:
    """Objects of CAPZ as they are in a cluster, and a class of clusters."""
    values = {"CLUSTER_NAME": "prod", "KUBERNETES_VERSION": "v1.30.1", "ASO_CREDENTIAL_SECRET_NAME": "aso", "CLUSTER_NAME/-/": "prod", "AZURE_NODE_MACHINE_TYPE": "Standard_D2s_v3", "WORKER_MACHINE_COUNT:=2": "2", "AZURE_LOCATION:=westeurope": "westeurope"}  # fmt: skip
    text = CAPZ_TREE
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", value)
    return {"fleet/prod.yaml": text, "classes/aks.yaml": CLUSTER_CLASS}


CHARTS = {
    "charts/lib/Chart.yaml": "{apiVersion: v2, name: lib, version: 0.1.0, type: library}\n",
    "charts/lib/templates/_account.tpl": """\
{{- define "lib.account" }}
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: {{ required "name is not set" .name }}}
spec:
  owner: {name: {{ .group }}}
  location: {{ .location | default "westeurope" }}
  kind: StorageV2
  sku: {{ toYaml .sku | nindent 4 }}
{{- end }}
""",
    "charts/team/Chart.yaml": """\
apiVersion: v2
name: team
version: 0.1.0
dependencies: [{name: lib, version: 0.1.0, repository: "file://../lib"}]
""",
    "charts/team/values.yaml": "accounts: []\ngroup: shop\nsku: {name: Standard_LRS}\n",
    "charts/team/templates/group.yaml": """\
{{- if not (lookup "v1" "Namespace" "" .Release.Namespace) }}
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: {{ .Values.group }}}
spec: {location: westeurope}
{{- end }}
""",
    "charts/team/templates/accounts.yaml": """\
{{- range .Values.accounts }}
---
{{- include "lib.account" (dict "name" (tpl . $) "group" $.Values.group "sku" $.Values.sku) }}
{{- end }}
""",
}


def library_chart() -> Shape:
    """A chart with templates for others, and one that uses it: by a HelmRelease in one cluster, and in its own folder a
    chart with an object of CAPZ.
    """
    release = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: shop}
spec:
  chart: {spec: {chart: ./charts/team, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
  values: {accounts: ["{{ .Release.Name }}web", shopdata]}
"""
    fleet = """\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: {{ .Release.Name }}}
spec:
  resources:
  - apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {name: {{ .Values.group }}}
    spec: {location: westeurope}
"""
    return {
        **CHARTS,
        "clusters/prod/shop.yaml": release,
        "fleet/Chart.yaml": "{apiVersion: v2, name: fleet, version: 0.1.0}\n",
        "fleet/values.yaml": "group: fleet\n",
        "fleet/templates/cluster.yaml": fleet,
    }


def published_charts() -> Shape:
    """A chart that is also in a registry, from where Flux and Argo CD objects take it, each with values of its own."""
    release = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: NAME, namespace: shop}
spec: {CHART, values: {accounts: [NAMEdata], group: NAME}}
"""
    charts = {
        "byname": "chart: {spec: {chart: team, version: 0.1.0, sourceRef: {kind: HelmRepository, name: contoso}}}",
        "byref": "chartRef: {kind: OCIRepository, name: team-chart}",
    }
    registry = (
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {name: team-chart, namespace: shop}\n"
        'spec: {interval: 5m, url: "oci://${REGISTRY}/charts/team", ref: {semver: 0.x}}\n'
    )
    source = "chart: team, targetRevision: 0.1.0, helm: {valuesObject: {accounts: [argodata], group: argo}}"
    return {
        **CHARTS,
        "clusters/prod/registry.yaml": registry,
        "clusters/prod/argo.yaml": argocd_application("argo", "", source).replace(REMOTE, "ghcr.io/contoso/charts"),
        **{
            f"clusters/prod/{name}.yaml": release.replace("NAME", name).replace("CHART", chart)
            for name, chart in charts.items()
        },
    }


REMOTE = "https://github.com/contoso/estate"
"""Of every repository: Argo CD objects name it."""


def argocd_application(name: str, namespace: str, source: str) -> str:
    return (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\n"
        f"metadata: {{name: '{name}', namespace: argocd}}\n"
        f"spec:\n  destination: {{namespace: '{namespace or name}'}}\n  source: {{repoURL: {REMOTE}, {source}}}\n"
    )


def argocd_tree() -> Shape:
    """An Application of Applications: folders, an overlay and a chart, and two sets of Applications."""
    template = argocd_application("{{name}}", "", "path: 'sites/{{name}}'")
    folders = argocd_application("{{path.basename}}", "", "path: '{{path}}'")
    sets = {
        "sites": ("list: {elements: [{name: east}, {name: west}]}", template),
        "teams": (f"git: {{repoURL: {REMOTE}, revision: HEAD, directories: [{{path: teams/*}}]}}", folders),
    }
    files = {
        "root.yaml": argocd_application("root", "argocd", "path: apps"),
        "apps/infra.yaml": argocd_application("infra", "", "path: infra, directory: {recurse: true}"),
        "apps/overlay.yaml": argocd_application("overlay", "", "path: overlays/prod, kustomize: {namePrefix: prod-}"),
        "apps/shop.yaml": argocd_application("shop", "", "path: charts/team, helm: {valuesObject: {accounts: [shopweb]}}"),
        "apps/cache.yaml": argocd_application("cache", "", "chart: redis, targetRevision: 1.2.3").replace(REMOTE, "https://charts.example.com"),
        "infra/network/group.yaml": group("network", namespace="infra"),
        "overlays/prod/kustomization.yaml": kustomization("../../base"),
        "base/kustomization.yaml": kustomization("group.yaml"),
        "base/group.yaml": group("base", namespace="overlay"),
        **CHARTS,
    }  # fmt: skip
    for name, (generator, text) in sets.items():
        lines = text.splitlines()
        spec = "".join(f"    {line}\n" for line in ["metadata: " + lines[2].partition(": ")[2], *lines[3:]])
        files[f"apps/{name}-set.yaml"] = (
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\n"
            f"metadata: {{name: {name}, namespace: argocd}}\nspec:\n  generators: [{{{generator}}}]\n  template:\n{spec}"
        )
    for folder in ("sites/east", "sites/west", "teams/blue", "teams/red"):
        name = folder.partition("/")[2]
        files[f"{folder}/group.yaml"] = group(name, namespace=name)
    return files


def server(name: str, owner: str, secret: str, *, namespace: str = "default", login: str = "boss") -> str:
    return (
        "apiVersion: dbforpostgresql.azure.com/v1api20221201\nkind: FlexibleServer\n"
        f"metadata: {{name: '{name}', namespace: '{namespace}'}}\n"
        f"spec: {{owner: {{name: '{owner}'}}, azureName: '{name}', location: westeurope, administratorLogin: '{login}',"
        f" administratorLoginPassword: {{name: '{secret}', key: password}}}}\n"
    )


def sealed_tree(encrypt: Callable[..., bytes]) -> Shape:
    """Secrets that SOPS encrypted: in plain folders with variables, in an overlay with Flux variables that renames
    them, in a chart, and as values of a HelmRelease.
    """

    def seal(*names: str, key: str = "password") -> str:
        texts = (f"apiVersion: v1\nkind: Secret\nmetadata: {{name: '{name}'}}\nstringData: {{{key}: of-{name.rpartition('}')[2]}}}\n" for name in names)  # fmt: skip
        return encrypt(*texts).decode()

    values = "  postBuild: {substitute: {ENVIRONMENT: prod}}\n"
    release = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: db, namespace: default}
spec:
  chart: {spec: {chart: ./charts/db, sourceRef: {kind: GitRepository, name: flux-system, namespace: flux-system}}}
  values: {name: charted}
  valuesFrom: [{kind: Secret, name: db-values, valuesKey: login, targetPath: login}]
"""
    return {
        "clusters/prod/infra.yaml": flux("infra", "./infra/prod", f"  decryption: {{provider: sops}}\n{values}"),
        "clusters/prod/db.yaml": release,
        "clusters/prod/db-values.yaml": seal("db-values", key="login"),
        "infra/prod/kustomization.yaml": kustomization("../base", more="namespace: shop\nnamePrefix: x-\n"),
        "infra/base/kustomization.yaml": kustomization("group.yaml", "server.yaml", "secrets.yaml"),
        "infra/base/group.yaml": group("${ENVIRONMENT}-core", azureName="core"),
        "infra/base/server.yaml": server("${ENVIRONMENT}-flux", "x-${ENVIRONMENT}-core", "x-${ENVIRONMENT}-db"),
        "infra/base/secrets.yaml": seal("another", "${ENVIRONMENT}-db"),
        "charts/db/Chart.yaml": "{apiVersion: v2, name: db, version: 0.1.0}\n",
        "charts/db/templates/server.yaml": server("{{ .Values.name }}", "plain", "chart-db", login="{{ .Values.login }}"),
        "charts/db/templates/secret.yaml": seal("chart-db"),
        "apps/server.yaml": joined(group("plain"), server("plain-${TIER}", "plain", "plain")),
        "apps/secret.yaml": seal("plain"),
    }  # fmt: skip


def owner_elsewhere() -> Shape:
    """Manifests of a team whose group and network the platform team declares."""
    return {
        "team/account.yaml": account("logs", "platform"),
        "gitsync.yaml": "units: [{path: team, missingOwner: wait}]\n",
    }


def old_versions() -> Shape:
    """Versions that ASO has removed, next to current ones."""
    return {
        "old.yaml": joined(
            group("old").replace("v1api20200601", "v1beta20200601"),
            account("old", "old").replace("v1api20230101", "v1beta20210401"),
        ),
        "new.yaml": account("new", "old"),
        "gitsync.yaml": "units: [{path: ., migrateVersions: true}]\n",
    }


GROUP_INSIDE = (
    "{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: a}, spec: {location: x}}"
)
LOOK_ALIKES = {
    "tsconfig.json": '{\n  // strict\n  "compilerOptions": {"strict": true},\n}\n',
    "values.yaml": "image: {tag: latest}\nresources: {limits: {cpu: 1}}\n",
    ".github/workflows/ci.yaml": "name: CI\non: [push]\njobs: {}\n",
    "main.tf.json": '{"resource": {"azurerm_resource_group": {"a": {"name": "x"}}}}',
    "crd.yaml": (
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
        "metadata: {name: resourcegroups.resources.azure.com}\nspec: {group: resources.azure.com}\n"
    ),
    "lists.yaml": f"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: [{GROUP_INSIDE}]\n",
    "identity.yaml": "apiVersion: aadpodidentity.k8s.io/v1\nkind: AzureIdentity\nmetadata: {name: a}\n",
    "invented.yaml": "apiVersion: infrastructure.azure.com/v1\nkind: Thing\nmetadata: {name: a}\nspec: {}\n",
    "kro.yaml": (
        "apiVersion: kro.run/v1alpha1\nkind: ResourceGraphDefinition\nmetadata: {name: web}\n"
        f"spec: {{resources: [{{id: a, template: {GROUP_INSIDE}}}]}}\n"
    ),
    "composition.yaml": (
        "apiVersion: apiextensions.crossplane.io/v1\nkind: Composition\nmetadata: {name: web}\n"
        f"spec: {{resources: [{{base: {GROUP_INSIDE}}}]}}\n"
    ),
}
