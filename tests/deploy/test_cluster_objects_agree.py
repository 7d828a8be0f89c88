"""The kustomize base and the Helm chart make the same objects, valid by the OpenAPI schemas of Kubernetes, offline."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
import yaml

import gitsync
from gitsync.agent.run.workers import Worker, find_worker
from gitsync.desired.editor.kind_schemas import DRAFT
from gitsync.errors import ExitCode
from gitsync.settings.config.config import SETTINGS, Config
from gitsync.settings.config.load import resolve
from gitsync.settings.config.setting import SettingForm
from tests.deploy.cluster_tools import BASE, CHART, KUBERNETES, build, index, list_faults, read_block, refuse, template
from tests.support.programs import needs_helm, needs_kustomize

VERSIONS = ("1.25", "1.37")  # the oldest that the chart allows, and the newest that the validator has
OVERLAY, VALUES = read_block("kustomization.yaml"), read_block("values.yaml")
CLIENT = yaml.safe_load(VALUES)["identity"]["clientId"]
MORE_OVERLAY = """\
components:
  - base/exports
"""
SHARDS_OVERLAY = """\
components:
  - base/shards
"""
MORE_PATCHES = """\
  - target:
      kind: CronJob
      name: gitsync
    patch: |-
      - {op: replace, path: /spec/schedule, value: "0 * * * *"}
      - {op: add, path: /spec/timeZone, value: Europe/Berlin}
      - {op: add, path: /spec/suspend, value: true}
      - {op: replace, path: /spec/jobTemplate/spec/activeDeadlineSeconds, value: 7200}
      - op: add
        path: /spec/jobTemplate/spec/template/metadata/annotations
        value: {prometheus.io/scrape: "false"}
      - op: add
        path: /spec/jobTemplate/spec/template/spec/nodeSelector
        value: {kubernetes.io/os: linux}
      - op: add
        path: /spec/jobTemplate/spec/template/spec/tolerations
        value: [{key: ops, operator: Exists}]
      - op: add
        path: /spec/jobTemplate/spec/template/spec/imagePullSecrets
        value: [{name: registry}]
      - op: add
        path: /spec/jobTemplate/spec/template/spec/priorityClassName
        value: low
      - op: replace
        path: /spec/jobTemplate/spec/template/spec/containers/0/envFrom/1/secretRef/name
        value: vault
      - op: replace
        path: /spec/jobTemplate/spec/template/spec/containers/0/resources
        value: {limits: {memory: 1Gi}}
      - op: add
        path: /spec/jobTemplate/spec/template/spec/volumes/-
        value: {name: metrics, persistentVolumeClaim: {claimName: textfiles}}
      - op: add
        path: /spec/jobTemplate/spec/template/spec/containers/0/volumeMounts/-
        value: {name: metrics, mountPath: /metrics}
  - target:
      kind: ConfigMap
      name: gitsync-settings
    patch: |-
      - {op: add, path: /data/GITSYNC_METRICS, value: /metrics/gitsync.prom}
  - target:
      kind: NetworkPolicy
      name: gitsync
    patch: |-
      - {op: add, path: /spec/egress/-, value: {ports: [{port: 4318, protocol: TCP}]}}
"""
DIGEST = f"sha256:{'0' * 64}"
MORE_VALUES = {
    "schedule": "0 * * * *",
    "timeZone": "Europe/Berlin",
    "suspend": True,
    "activeDeadlineSeconds": 7200,
    "secretName": "vault",
    "exports": {"namespaces": ["default"]},
    "metrics": {"volume": {"persistentVolumeClaim": {"claimName": "textfiles"}}},
    "networkPolicy": {"egress": [{"ports": [{"port": 4318, "protocol": "TCP"}]}]},
    "resources": {"requests": None, "limits": {"memory": "1Gi"}},
    "podAnnotations": {"prometheus.io/scrape": "false"},
    "nodeSelector": {"kubernetes.io/os": "linux"},
    "tolerations": [{"key": "ops", "operator": "Exists"}],
    "priorityClassName": "low",
    "imagePullSecrets": [{"name": "registry"}],
}
FULL_VALUES = yaml.safe_load(VALUES) | MORE_VALUES
FULL_VALUES["image"] = FULL_VALUES["image"] | {"digest": DIGEST}
FULL_OVERLAY = (OVERLAY + MORE_PATCHES + MORE_OVERLAY).replace("newTag: 0.1.0", f"digest: {DIGEST}")

MANY_WORKERS = "shards: 8\n"
BINDING_OVERLAY = "components: [base/identity-binding]\n"
BINDING_VALUES = yaml.safe_dump(yaml.safe_load(VALUES) | {"identity": {"clientId": CLIENT, "binding": True}})
DATABASES_OVERLAY = "components: [base/databases]\n"
PAIRS = [
    (OVERLAY, VALUES, VERSIONS, "as the page shows them"),
    (FULL_OVERLAY, yaml.safe_dump(FULL_VALUES), VERSIONS, "everything that values can say"),
    (OVERLAY + SHARDS_OVERLAY, VALUES + MANY_WORKERS, ("1.29", "1.37"), "many workers"),
    (OVERLAY + DATABASES_OVERLAY, f"{VALUES}networkPolicy: {{databases: true}}\n", VERSIONS, "users of databases"),
    (OVERLAY + BINDING_OVERLAY, BINDING_VALUES, VERSIONS, "an identity binding"),
]


@needs_kustomize
@needs_helm
@pytest.mark.parametrize(("overlay", "values", "versions", "why"), PAIRS, ids=[row[-1] for row in PAIRS])
def test_both_make_the_same_objects_and_valid_ones(overlay, values, versions, why, tmp_path):
    built = build(overlay, tmp_path)
    assert built == template(values), why
    for version in versions:
        for cluster_object in built.values():
            kubernetes_validate.validate(cluster_object, version, strict=True)


def test_the_role_that_the_page_shows_for_an_identity_binding_is_valid():
    role, binding = index(read_block("identity-binding.yaml")).values()
    assert role["rules"][0]["resources"] == [CLIENT]
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    for cluster_object in (role, binding):
        kubernetes_validate.validate(cluster_object, KUBERNETES, strict=True)


def test_the_files_of_the_base_are_valid_by_themselves():
    for path in (path for path in BASE.rglob("*.yaml") if path.name != "kustomization.yaml"):
        for cluster_object in index(path.read_text()).values():
            kubernetes_validate.validate(cluster_object, KUBERNETES, strict=True)


def test_the_validator_refuses_a_field_that_kubernetes_does_not_know():
    """Without this the tests above would prove nothing."""
    job = cron_job()
    job["spec"]["concurrencePolicy"] = "Forbid"
    with pytest.raises(kubernetes_validate.ValidationError, match="concurrencePolicy"):
        kubernetes_validate.validate(job, KUBERNETES, strict=True)


def cron_job() -> Any:
    return yaml.safe_load((BASE / "cronjob.yaml").read_text())


def test_the_pod_meets_the_restricted_standard():
    pod = cron_job()["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert [set(volume) - {"name"} for volume in pod["volumes"]] == [{"emptyDir"}], "no folder of the node"
    assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod)


def test_a_run_ends_by_itself_before_kubernetes_ends_it():
    job = cron_job()["spec"]["jobTemplate"]["spec"]
    assert job["activeDeadlineSeconds"] > Config().run_timeout
    assert job["template"]["spec"]["terminationGracePeriodSeconds"] > 25, "docs/security.md: within 25 seconds"
    assert (job["backoffLimit"], cron_job()["spec"]["concurrencyPolicy"]) == (0, "Forbid")


def test_the_version_is_that_of_the_package():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert {chart["version"], chart["appVersion"]} == {gitsync.__version__}
    [container] = cron_job()["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert container["image"] == f"gitsync:{gitsync.__version__}"


def test_the_schema_keeps_every_secret_setting_out_of_the_config_map():
    schema = json.loads((CHART / "values.schema.json").read_text())
    secrets = {name for s in SETTINGS.values() if s.form is SettingForm.SECRET for name in s.variables}
    assert set(schema["properties"]["settings"]["propertyNames"]["not"]["enum"]) == secrets


def test_the_schema_has_the_official_id_of_its_draft():
    """Editors and validators choose the rules by it: the drafts up to 7 have `http`, and `#` at the end."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema["$schema"] == jsonschema.Draft7Validator.META_SCHEMA["$id"] == DRAFT


WRONG = [
    ("settings: {GITSYNC_SOURCE: https://a.example/b}", "AZURE_SUBSCRIPTION_ID", "a setting is missing"),
    (f"{VALUES}scedule: daily\n", "scedule", "a value is misspelt"),
    (VALUES.replace("  GITSYNC_PRUNE", "  GITSYNC_GIT_TOKEN: x\n  GITSYNC_PRUNE"), "GITSYNC_GIT_TOKEN", "a secret is shown"),
    (VALUES.replace('"true"', "true"), "GITSYNC_PRUNE", "a variable is text"),
    (f"{VALUES}shards: 0\n", "shards", "nobody would work"),
    (f'{VALUES}shards: "8"\n', "shards", "a number is no text"),
    (f"{VALUES}allowIdentities: {{mode: report}}\n", "allow", "a list without entries allows none"),
    (f"{VALUES}allowIdentities: {{allow: [{{client: []}}]}}\n", "client", "a key of the list is misspelt"),
    (f"{VALUES}allowIdentities: {{allow: [{{clients: [me]}}]}}\n", "clients", "an id is a UUID"),
    (VALUES.replace("https://github.com", "/mnt"), "GITSYNC_SOURCE", "a folder is not in the pod"),
]  # fmt: skip


@pytest.mark.parametrize(("values", "named", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_wrong_values_do_not_match_the_schema(values, named, why):
    assert any(named in fault for fault in list_faults(values)), why


@needs_helm
def test_helm_refuses_what_does_not_match_the_schema():
    values, named, why = WRONG[0]
    assert named in refuse(values), why
    assert list_faults(VALUES) == [], "without this the rows would prove nothing"


@needs_helm
def test_several_workers_write_no_file_together():
    values = f"{VALUES}{MANY_WORKERS}metrics: {{volume: {{emptyDir: {{}}}}}}\n"
    assert "metrics.volume is for one worker" in refuse(values)


@needs_helm
def test_many_workers_are_refused_where_the_cluster_is_too_old():
    assert "needs Kubernetes 1.29" in refuse(VALUES + MANY_WORKERS, version="1.28")
    assert template(VALUES, version="1.28"), "one worker is not"


@needs_kustomize
def test_the_number_of_workers_is_written_once(tmp_path):
    """In the copy of the base, of which it is changed."""
    file = (BASE / "shards" / "kustomization.yaml").read_text()
    assert file.count("value: 8\n") == 2
    three = file.replace("/completions\n        value: 8\n", "/completions\n        value: 3\n")
    built = build(OVERLAY + SHARDS_OVERLAY, tmp_path, {"shards/kustomization.yaml": three})
    job = built["CronJob", "gitsync", "gitsync"]["spec"]["jobTemplate"]["spec"]
    [container] = job["template"]["spec"]["containers"]
    assert (job["completions"], job["parallelism"], container["env"][0]["value"]) == (3, 3, "3")


@needs_helm
def test_workers_are_distinguished_by_what_gitsync_reads(tmp_path):
    """The variables of an Indexed Job make a worker of the settings, and the exit codes of its policy are those of the
    enum.
    """
    job = template(VALUES + MANY_WORKERS)["CronJob", "gitsync", "gitsync"]["spec"]["jobTemplate"]["spec"]
    [container] = job["template"]["spec"]["containers"]
    variables = {
        variable["name"]: variable.get("value", "0b6f6e1e-0d1e-4a57-8a2f-6a1f4b0c1d2e") for variable in container["env"]
    }
    worker = find_worker(resolve(Namespace(), variables, tmp_path), {"JOB_COMPLETION_INDEX": "7"})
    assert worker == Worker(run_id=variables["GITSYNC_RUN_ID"], number=8, workers=8)
    ignored, failed = job["podFailurePolicy"]["rules"]
    assert (ignored["action"], failed["action"]) == ("Ignore", "FailIndex")
    assert failed["onExitCodes"]["values"] == [ExitCode.FAILED, ExitCode.REFUSED, ExitCode.FAULT]
    assert ExitCode.UNREACHABLE not in failed["onExitCodes"]["values"], "it is tried again"
    assert "backoffLimit" not in job, "it would end all workers with the first that fails"


@needs_helm
def test_gitsync_reads_the_allow_list_that_the_chart_writes(tmp_path):
    client = "33333333-3333-3333-3333-333333333333"
    entry = f"{{namespaces: [team-a], clients: [{client}], clouds: [https://login.example]}}"
    made = template(f"{VALUES}allowIdentities: {{mode: report, global: [platform], allow: [{entry}]}}\n")
    variables = made["ConfigMap", "gitsync", "gitsync-settings"]["data"]
    allowed = resolve(Namespace(), variables, tmp_path).allow_identities
    assert (allowed.refuses, allowed.of_global) == (False, ("platform",))
    [entry] = allowed.entries
    assert (entry.namespaces, entry.clients, entry.clouds) == (("team-a",), (client,), ("https://login.example",))
    assert "GITSYNC_ALLOW_IDENTITIES" not in template(VALUES)["ConfigMap", "gitsync", "gitsync-settings"]["data"]


@needs_helm
def test_what_is_switched_off_is_not_made():
    made = template(f"{VALUES}networkPolicy: {{enabled: false}}\n")
    assert sorted(kind for kind, _, _ in made) == ["ConfigMap", "CronJob", "ServiceAccount"]
