"""`gitsync validate`: every problem of a source, and what it exits with."""

import json
import subprocess
from pathlib import Path

import pytest

from gitsync.cli.main import run
from tests.support.programs import needs_build_tool

GOOD = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""
BAD = GOOD.replace("location:", "locaton:")
WARNED = (
    GOOD
    + "---\nkind: Secret\napiVersion: v1\nmetadata: {name: aso-credential}\n"
    + ("data: {key: /w==}\nstringData: {AZURE_SUBSCRIPTION_ID: s, AZURE_TENANT_ID: t, AZURE_CLIENT_ID: c}\n")
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Away from settings of the working folder and of the user who runs the tests."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    for name in ("GITSYNC_CONFIG", "AZURE_SUBSCRIPTION_ID", "AZURE_TARGET_NAMESPACES", "DEFAULT_RECONCILE_POLICY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def source(tmp_path):
    def make(**files):
        folder = tmp_path / "source"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            path = folder / f"{name.replace('__', '/')}.yaml"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        return str(folder)

    return make


TEXT = """\
bad.yaml:4: error: MissingField spec.location
    spec.location is required.
    Add location to spec.
bad.yaml:4: error: UnknownField spec.locaton
    spec.locaton is an unknown field.
    Did you mean location?

worse.yaml:1: error: UnknownKind kind
"""


def test_problems_are_reported_file_by_file(source, capsys):
    worse = "kind: SecurityGrip\napiVersion: entra.azure.com/v1\nmetadata: {name: x}\n"
    assert run(["validate", source(good=GOOD, bad=BAD.replace("core", "other"), worse=worse)]) == 1
    told = capsys.readouterr().out
    assert told.startswith(TEXT)
    assert told.endswith("\n\n3 resources in 3 files: 3 errors.\n")


LEADS_NOWHERE = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./b, sourceRef: {kind: GitRepository, name: flux-system}}
"""


@pytest.mark.parametrize(
    ("files", "flags", "code", "last", "why"),
    [
        ({"a": GOOD}, [], 0, "1 resource in 1 file: no problems.", "nothing is wrong"),
        ({"a": WARNED}, [], 0, "1 resource in 1 file: 1 warning.", "a warning is no error"),
        ({"a": WARNED}, ["--strict"], 1, "1 resource in 1 file: 1 warning.", "but is one with --strict"),
        ({"a": BAD}, [], 1, "1 resource in 1 file: 2 errors.", "errors"),
        ({"a": BAD}, ["--unknown-fields", "warn"], 1, "1 resource in 1 file: 1 error and 1 warning.", "a field is dropped"),
        ({"a": "kind: Group\napiVersion: app.azure.com/v1\na: [\n"}, [], 1, "0 resources in 1 file: 1 error; 1 document rejected.", "a file that does not parse"),
        ({"a": GOOD, "b": "kind: Secret\na: [\n"}, ["--strict"], 0, "1 resource in 2 files: no problems; 1 document rejected; 1 problem in what is not used.", "one that nothing uses"),
        ({}, [], 0, "0 resources in 0 files: nothing to validate. Check SOURCE and --path.", "an empty folder"),
        pytest.param({"a": LEADS_NOWHERE, "b__c": "a: 1\n"}, [], 0, "0 resources in 2 files: nothing to validate; followed 1 Flux Kustomization. The followed sources have no ASO resource: check their values.", "a unit without resources", marks=needs_build_tool),
        ({"a": GOOD, "b__c": BAD}, ["--path", "b"], 1, "1 resource in 1 file: 2 errors.", "only what lies at the path"),
        (
            {"a": GOOD, "b": BAD.replace("core", "other")},
            ["--only", "ResourceGroup/core"],
            0,
            "1 resource in 2 files: no problems.",
            "only what is asked for",
        ),
        (
            {"a": GOOD, "b": BAD.replace("name: core", "name: core, namespace: away")},
            ["--target-namespaces", "default"],
            0,
            "1 resource in 2 files: no problems.",
            "only the namespaces that are targets",
        ),
    ],
)  # fmt: skip
def test_how_it_ends(files, flags, code, last, why, source, capsys):
    assert run(["validate", source(**files), *flags]) == code, why
    assert capsys.readouterr().out.splitlines()[-1] == last, why


IDENTITY = """\
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: app}
spec:
  owner: {name: core}
  location: westeurope
  operatorSpec:
    EXPORTS
"""
DESTINATIONS = [
    ("Secret", "secrets: {clientId: {name: taken, key: id}}", "secrets.clientId"),
    ("ConfigMap", "configMaps: {clientId: {name: taken, key: id}}", "configMaps.clientId"),
    ("Secret", "secretExpressions: [{name: taken, key: id, value: self.status.clientId}]", "secretExpressions[0]"),
    ("ConfigMap", "configMapExpressions: [{name: taken, key: a, value: self.status.id}]", "configMapExpressions[0]"),
]


@pytest.mark.parametrize("object_kind, exports, field", DESTINATIONS)
def test_an_export_over_a_git_object_names_both_locations(object_kind, exports, field, source, capsys):
    taken = f"# of people\napiVersion: v1\nkind: {object_kind}\nmetadata: {{name: taken}}\n"
    assert run(["validate", source(a=GOOD, b=IDENTITY.replace("EXPORTS", exports), c=taken)]) == 1
    told = capsys.readouterr().out
    assert told.startswith(
        f"b.yaml:8: error: ExportNotOwned spec.operatorSpec.{field}\n    cannot overwrite {object_kind} default/taken "
        "which is not owned by UserAssignedIdentity.managedidentity.azure.com default/app: c.yaml:2 declares it.\n"
    )


def test_json_has_the_shape_that_every_command_shares(source, capsys):
    assert run(["validate", source(bad=BAD), "--output", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert {key: told[key] for key in ("resources", "files", "passedOver", "errors", "warnings")} == {
        "resources": 1,
        "files": 1,
        "passedOver": 0,
        "errors": 2,
        "warnings": 0,
    }
    assert told["problems"][1] == {
        "code": "UnknownField",
        "severity": "error",
        "message": "spec.locaton is an unknown field.",
        "hint": "Did you mean location?",
        "path": "bad.yaml",
        "line": 4,
        "field": "spec.locaton",
    }


OTHERS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
---
apiVersion: cache.azure.cm/v1api20230801
kind: Redis
metadata: {name: store}
---
replicas: 1
"""
COUNTED = (
    "1 resource in 2 files: 1 error; skipped: 1 Deployment.apps, 1 without a kind; 1 document rejected; 1 file ignored."
)
LISTED = """
others.yaml:1: skipped: Deployment.apps web
others.yaml:5: rejected: Redis.cache.azure.cm store
others.yaml:9: skipped: without a kind
out.yaml: ignored
"""


@pytest.fixture
def mixed(source):
    folder = source(a=GOOD, others=OTHERS, out="a: [")
    (Path(folder) / ".gitsyncignore").write_text("out.yaml\n")
    return folder


def test_what_is_left_out_is_counted_and_listed_on_request(mixed, capsys):
    assert run(["validate", mixed]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == COUNTED
    assert run(["validate", mixed, "-v"]) == 1
    assert capsys.readouterr().out.endswith(f"{COUNTED}\n{LISTED}")


def test_what_a_program_reads_has_counts_and_no_list(mixed, capsys):
    assert run(["validate", mixed, "--output", "json", "--verbose"]) == 1
    out, err = capsys.readouterr()
    assert json.loads(out)["coverage"] == {
        "files": 2,
        "resources": 1,
        "followed": {},
        "passedOver": {"Deployment.apps": 1, "without a kind": 1},
        "rejected": 1,
        "ignoredFiles": 1,
        "skippedKustomizations": 0,
        "notes": 0,
    }
    assert err.endswith(LISTED)


@needs_build_tool
def test_what_no_kustomization_names_is_counted_in_the_last_line(source, capsys):
    folder = source(
        good=GOOD, k__kustomization="resources: [a.yaml]\n", k__a=GOOD.replace("core", "a"), k__b=f"{GOOD}---\n{GOOD}"
    )
    last = "2 resources in 2 files: no problems; 2 ASO objects in 1 file that no kustomization names."
    assert run(["validate", folder]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == last
    assert run(["validate", folder, "-v"]) == 0
    assert capsys.readouterr().out.endswith(f"{last}\n\nk/b.yaml: no kustomization names it: 2 ASO objects\n")


OF_AN_EXTENSION = LEADS_NOWHERE.replace("flux-system", "cluster-config")


@needs_build_tool
def test_gitsync_yaml_reports_which_source_is_this_repository(source, capsys):
    """The GitRepository of the AKS extension is in no repository: one that is would change what the controller does."""
    folder = source(a=OF_AN_EXTENSION, b__c=GOOD)
    run(["validate", folder])
    told = capsys.readouterr().out
    assert "If it is, write `this-repository: cluster-config/cluster-config` in gitsync.yaml." in told
    assert " declare " not in told
    for text in ("cluster-config/cluster-config", "[GitRepository/cluster-config/cluster-config, a/b]"):
        (Path(folder) / "gitsync.yaml").write_text(f"this-repository: {text}\n")
        assert run(["validate", folder]) == 0
        told = capsys.readouterr().out
        assert "followed 1 Flux Kustomization" in told
        assert "OtherSource" not in told
    (Path(folder) / "gitsync.yaml").write_text("this-repository: cluster-config\n")
    assert run(["validate", folder]) == 2
    assert (
        "gitsync.yaml:1: this-repository: 'cluster-config' is not the name of a Flux source." in capsys.readouterr().err
    )


UNREAD_SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: teams, namespace: argocd}
spec:
  goTemplate: true
  generators: [{list: {elements: [{name: a}]}}]
  template: {metadata: {name: '{{ genCA .name }}'}, spec: {}}
"""


def test_a_set_that_is_not_read_is_what_may_release_a_chart(source, capsys):
    folder = source(chart__Chart="apiVersion: v2\nname: t\nversion: 0.1.0\n", sets=UNREAD_SET)
    (Path(folder) / "chart" / "templates").mkdir()
    (Path(folder) / "chart" / "templates" / "g.yaml").write_text(GOOD)
    assert run(["validate", folder]) == 1
    told = capsys.readouterr().out
    assert "InvalidApplication" in told
    assert "sets.yaml:7 may release it, but is not read." in told
    assert "Fix sets.yaml:7 first. If it does not release the chart: Write `units:" in told
    (Path(folder) / "sets.yaml").unlink()
    assert run(["validate", folder]) == 0
    assert "may release it" not in capsys.readouterr().out


RUN = ["--emulator", "--credential", "anonymous", "--subscription", "00000000-0000-0000-0000-000000000000"]


@pytest.mark.parametrize("command", ["plan", "sync"])
def test_plan_and_sync_count_and_list_the_same(command, mixed, capsys, tmp_path):
    run([command, mixed, "-v", *RUN, "--status-dir", str(tmp_path / "status")])
    told = capsys.readouterr().out
    assert "\nread 1 resource in 2 files; skipped: 1 Deployment.apps, 1 without a kind; " in told
    assert told.endswith(LISTED)


def test_a_plan_of_two_revisions_counts_the_newer(mixed, capsys):
    git = ["git", "-C", mixed, "-c", "user.name=n", "-c", "user.email=e@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    assert run(["plan", mixed, "--from", "HEAD", "--to", "HEAD", "-v"]) == 1
    told = capsys.readouterr().out
    assert "; 1 document rejected; 1 file ignored\n" in told
    assert told.endswith(LISTED)


def test_no_subscription_and_no_git_are_needed(source, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["validate", source(a=GOOD)]) == 0


def test_a_source_that_is_not_there_refuses(capsys):
    assert run(["validate", "nowhere"]) == 2
    assert capsys.readouterr().out == ""


def test_a_name_that_nothing_has_refuses(source, capsys):
    assert run(["validate", source(a=GOOD), "--only", "ResourceGroup/croe"]) == 2
    assert "ResourceGroup/cor" in capsys.readouterr().err


def test_a_name_may_be_abbreviated(source, capsys):
    folder = source(a=GOOD, b=GOOD.replace("core", "other"))
    assert run(["validate", folder, "--only", "resource/co"]) == 0
    assert "1 resource in 2 files" in capsys.readouterr().out


def test_a_revision_of_a_repository_is_validated_as_a_folder_is(source, capsys):
    folder = source(a=BAD)
    git = ["git", "-C", folder, "-c", "user.name=n", "-c", "user.email=e@example.com"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True)
    source(a=GOOD)
    assert run(["validate", folder]) == 0
    assert run(["validate", folder, "--ref", "HEAD"]) == 1


@needs_build_tool
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_is_built_and_what_it_makes_is_validated(name, source, tmp_path, capsys):
    folder = source(group=GOOD, patch=BAD)
    (tmp_path / "source" / name).write_text("resources: [group.yaml]\nnamePrefix: my-\n")
    assert run(["validate", folder]) == 0, "the patch is the kustomization's own, and not read"
    last = "1 resource in 1 file: no problems; 1 ASO object in 1 file that no kustomization names.\n"
    assert capsys.readouterr().out == last


FORMS = {"markdown": "### 2 errors\n", "junit": 'failures="2"', "sarif": '"ruleId": "MissingField"'}


@pytest.mark.parametrize(("output", "part"), FORMS.items())
def test_problems_in_the_forms_of_a_pipeline(output, part, source, capsys):
    assert run(["validate", source(bad=BAD), "--output", output]) == 1
    assert part in capsys.readouterr().out


def test_a_pipeline_gets_annotations_a_summary_and_files(source, tmp_path, monkeypatch, capsys):
    folder, summary = Path(source(apps__bad=BAD)), tmp_path / "summary.md"
    (folder / ".git").mkdir()
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run(["validate", str(folder / "apps"), "--report", str(tmp_path / "report")]) == 1
    annotation = "::error file=apps/bad.yaml,line=4,title=MissingField%3A "
    assert annotation in capsys.readouterr().out, "paths count from the top of the working tree"
    assert "### 2 errors\n" in summary.read_text()
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [
        "report.env",
        "report.json",
        "report.junit.xml",
        "report.md",
        "report.sarif",
    ]


@pytest.mark.parametrize("command", ["validate", "render", "graph", "doctor"])
def test_a_namespace_that_nothing_is_in_is_refused(command, source, capsys):
    folder = source(a=GOOD.replace("name: core", "name: core, namespace: lab"))
    assert run([command, folder, "-n", "labb"]) != 0
    told = capsys.readouterr()
    assert "Namespace labb has no resources. Did you mean lab?" in told.out + told.err


SERVER = """\
apiVersion: dbforpostgresql.azure.com/v1api20210601
kind: FlexibleServer
metadata: {name: pg}
spec:
  location: westeurope
  owner: {name: core}
  administratorLoginPassword: {name: pw, key: password}
"""
DECLARED = "apiVersion: v1\nkind: Secret\nmetadata: {name: pw}\nstringData: {password: x}\n"
OTHER_KEY = DECLARED.replace("password:", "other:")


@pytest.mark.parametrize(
    ("more", "flags", "variables", "is_missing", "why"),
    [
        ({}, [], {}, True, "no source has it"),
        ({"secret": DECLARED}, [], {}, False, "a manifest declares it"),
        ({"secret": OTHER_KEY}, [], {}, True, "the Secret lacks the key"),
        ({}, [], {"GITSYNC_SECRET_DEFAULT_PW_PASSWORD": "x"}, False, "a variable has it"),
        ({}, ["--secret-sources", "manifests,kubernetes"], {}, False, "the cluster may have it"),
    ],
)
def test_a_secret_that_no_source_has_is_a_warning(more, flags, variables, is_missing, why, source, monkeypatch, capsys):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(["validate", source(good=GOOD, server=SERVER, **more), *flags]) == 0
    assert ("warning: ValueNotFound" in capsys.readouterr().out) is is_missing, why


NAMED = GOOD.replace("{name: core}", "{name: core, annotations: {serviceoperator.azure.com/credential-from: team}}")
CREDENTIAL = "apiVersion: v1\nkind: Secret\nmetadata: {name: team}\nstringData: {%s}\n"
COMPLETE = CREDENTIAL % "AZURE_SUBSCRIPTION_ID: s, AZURE_TENANT_ID: t, AZURE_CLIENT_ID: c"
VARIABLES = {f"GITSYNC_SECRET_DEFAULT_TEAM_AZURE_{name}": "x" for name in ("SUBSCRIPTION_ID", "TENANT_ID", "CLIENT_ID")}


@pytest.mark.parametrize(
    ("files", "flags", "variables", "lacking", "why"),
    [
        ({"a": NAMED}, [], {}, ["No source has Secret default/team, the credential of ResourceGroup/core."], "no Secret"),
        (
            {"a": NAMED, "b": NAMED.replace("core", "b"), "c": NAMED.replace("core", "c")},
            [],
            {},
            ["the credential of ResourceGroup/b and of 2 more resources."],
            "one warning for all that have it",
        ),
        ({"a": NAMED, "secret": COMPLETE}, [], {}, [], "a manifest declares it"),
        ({"a": NAMED, "secret": COMPLETE.replace("team", "other")}, [], {}, ["Secret default/team,"], "another name"),
        (
            {"a": NAMED, "secret": COMPLETE.replace("{name: team}", "{name: team, namespace: b}")},
            [],
            {},
            ["Secret default/team,"],
            "in another namespace",
        ),
        ({"a": NAMED}, [], VARIABLES, [], "variables have it"),
        ({"a": NAMED}, ["--secret-sources", "manifests,kubernetes"], {}, [], "the cluster may have it"),
        ({"a": GOOD}, [], {}, [], "without one, a namespace has the global credential"),
        ({"a": GOOD, "secret": COMPLETE.replace("team", "aso-credential")}, [], {}, [], "it has them"),
    ],
)  # fmt: skip
def test_a_credential_that_no_source_has_is_a_warning(
    files, flags, variables, lacking, why, source, monkeypatch, capsys
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(["validate", source(**files), *flags]) == 0
    told = capsys.readouterr().out
    assert told.count("warning: ValueNotFound") == len(lacking), why
    assert all(text in told for text in lacking), told


LACKING = CREDENTIAL % "AZURE_SUBSCRIPTION_ID: s, AZURE_TENANT_ID: t"
OF_NAMESPACE = LACKING.replace("team", "aso-credential")
NO_CLIENT = 'does not contain key "AZURE_CLIENT_ID"'


@pytest.mark.parametrize(
    ("files", "flags", "variables", "error", "why"),
    [
        ({"a": NAMED, "secret": LACKING}, [], {}, NO_CLIENT, "a resource names it"),
        ({"a": GOOD, "secret": OF_NAMESPACE}, [], {}, NO_CLIENT, "it is that of the namespace"),
        ({"a": GOOD, "secret": LACKING}, [], {}, "", "no resource has it"),
        ({"a": GOOD, "secret": OF_NAMESPACE.replace("{name: aso-credential}", "{name: aso-credential, namespace: b}")}, [], {}, "", "no resource is in its namespace"),
        ({"a": NAMED, "secret": LACKING}, [], VARIABLES, "", "a variable has the key"),
        ({"a": NAMED, "secret": LACKING}, ["--secret-sources", "manifests,kubernetes"], {}, "", "the cluster may have it"),
        ({"a": NAMED, "secret": LACKING}, ["--secret-sources", "environment"], {}, "", "manifests are no source"),
        ({"a": NAMED, "secret": COMPLETE.replace("c}", "c d}")}, [], {}, "AZURE_CLIENT_ID of credential Secret", "no id"),
        ({"a": NAMED, "secret": COMPLETE.replace("c}", "c, AUTH_MODE: other}")}, [], {}, "authorization mode", "no mode"),
        ({"a": NAMED, "secret": COMPLETE.replace("c}", "c, AZURE_AUTHORITY_HOST: https://a}")}, [], {}, "another Azure cloud", "not allowed"),
        ({"a": NAMED, "secret": COMPLETE}, [], {}, "", "workload identity needs no more"),
    ],
)  # fmt: skip
def test_a_credential_that_cannot_be_used_is_an_error_at_its_secret(
    files, flags, variables, error, why, source, monkeypatch, capsys
):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(["validate", source(**files), *flags]) == bool(error), why
    told = capsys.readouterr().out
    assert told.count("secret.yaml:1: error: CredentialNotUsable") == bool(error), told
    assert error in " ".join(told.split())
    assert "ValueNotFound" not in told or not error


OWN = COMPLETE.replace("team", "aso-credential")
OF_VARIABLES = {"AZURE_SUBSCRIPTION_ID": "s", "AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c"}
SEALED = """\
apiVersion: v1
kind: Secret
metadata: {name: aso-credential}
stringData:
  AZURE_SUBSCRIPTION_ID: ENC[AES256_GCM,data:s,iv:s,tag:s,type:str]
  AZURE_TENANT_ID: ENC[AES256_GCM,data:t,iv:t,tag:t,type:str]
  AZURE_CLIENT_ID: ENC[AES256_GCM,data:c,iv:c,tag:c,type:str]
sops: {lastmodified: "2026-01-01T00:00:00Z", mac: "ENC[AES256_GCM,data:m,iv:m,tag:m,type:str]", version: 3.9.0}
"""
EXAMPLE_ID = "44444444-4444-4444-4444-444444444444"
NO_IDENTITY = "{allow: []}"
NOT_ALLOWED = "error: IdentityNotAllowed"


@pytest.mark.parametrize(
    ("files", "allowed", "flags", "shown", "code", "why"),
    [
        ({"a": GOOD, "secret": OWN}, NO_IDENTITY, [], f"secret.yaml:1: {NOT_ALLOWED}", 1, "it is in no entry"),
        ({"a": NAMED, "secret": COMPLETE}, NO_IDENTITY, [], f"secret.yaml:1: {NOT_ALLOWED}", 1, "a resource names it"),
        ({"a": GOOD, "secret": OWN}, "{allow: [{namespaces: default}]}", [], "no problems", 0, "any of the namespace"),
        ({"a": GOOD, "secret": OWN}, "{mode: report, allow: []}", [], "secret.yaml:1: warning: IdentityNotAllowed", 0, "a warning"),
        ({"a": GOOD, "secret": OWN}, "{mode: report, allow: []}", ["--strict"], "warning: IdentityNotAllowed", 1, "warnings count"),
        ({"a": GOOD, "secret": COMPLETE}, NO_IDENTITY, [], "no problems", 0, "no resource has it"),
        ({"a": GOOD}, "{global: [], allow: []}", [], f"a.yaml:1: {NOT_ALLOWED}", 1, "the global credential is not for it"),
        ({"a": GOOD}, "{global: [default], allow: []}", [], "no problems", 0, "the global credential is for it"),
        ({"a": GOOD}, "{global: [], allow: []}", ["--secret-sources", "manifests,key-vault"], "no problems", 0, "it may have a Secret"),
        ({"a": GOOD, "secret": OWN}, NO_IDENTITY, ["--secret-sources", "environment"], "no problems", 0, "manifests are no source"),
        ({"a": GOOD, **OF_VARIABLES}, "{global: [], allow: [{namespaces: default}]}", [], "no problems", 0, "variables have the Secret"),
        ({"a": GOOD, **OF_VARIABLES}, NO_IDENTITY, [], f"a.yaml:1: {NOT_ALLOWED}", 1, "variables have the Secret"),
        ({"a": GOOD, "secret": OF_NAMESPACE, **OF_VARIABLES}, NO_IDENTITY, [], f"secret.yaml:1: {NOT_ALLOWED}", 1, "a variable has the key"),
        ({"a": GOOD, "secret": SEALED}, "{global: [], allow: []}", [], "no problems", 0, "an encrypted Secret is not read"),
        ({"a": GOOD, "secret": SEALED, **OF_VARIABLES}, NO_IDENTITY, [], "no problems", 0, "nor completed"),
        ({"a": GOOD, "secret": SEALED}, "{global: [], allow: []}", ["--secret-sources", "environment"], "may not use the global credential", 1, "manifests are no source"),
        ({"a": GOOD, "AZURE_CLIENT_ID": "c"}, "{global: [], allow: []}", [], "may not use the global credential", 1, "one key is no Secret"),
        ({"a": GOOD, **OF_VARIABLES}, "{global: [], allow: []}", ["--secret-sources", "manifests"], "may not use the global credential", 1, "variables are no source"),
    ],
)  # fmt: skip
def test_an_identity_that_is_not_allowed_is_a_problem_of_its_secret(
    files, allowed, flags, shown, code, why, source, monkeypatch, capsys
):
    monkeypatch.setenv("GITSYNC_ALLOW_IDENTITIES", allowed)
    for key in [name for name in files if name.startswith("AZURE_")]:
        monkeypatch.setenv(f"GITSYNC_SECRET_DEFAULT_ASO_CREDENTIAL_{key}", files[key])
    files = {name: text for name, text in files.items() if not name.startswith("AZURE_")}
    assert run(["validate", source(**files), *flags]) == code, why
    assert shown in capsys.readouterr().out


UNIT = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {path: ./%s, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: flux-system}}
"""


@needs_build_tool
@pytest.mark.parametrize(
    ("credential", "error"),
    [(OWN.replace("c}", "other}"), NOT_ALLOWED), (OF_NAMESPACE, "error: CredentialNotUsable")],
)
def test_the_credentials_of_each_environment_are_checked(credential, error, tmp_path, monkeypatch, capsys):
    """Each has a Secret of the same name, and only that of the second is at fault."""
    listed = tmp_path / "list.yaml"
    listed.write_text(f"allow: [{{subscriptions: {EXAMPLE_ID}}}]")
    monkeypatch.setenv("GITSYNC_ALLOW_IDENTITIES", str(listed))
    allowed = OWN.replace("SUBSCRIPTION_ID: s", f"SUBSCRIPTION_ID: {EXAMPLE_ID}")
    for name, secret, group in [("dev", allowed, GOOD), ("prod", credential, GOOD.replace("west", "north"))]:
        for path, text in {f"{name}/a": group, f"{name}/secret": secret, f"clusters/{name}/apps": UNIT % name}.items():
            file = tmp_path / "source" / f"{path}.yaml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    assert run(["validate", str(tmp_path / "source")]) == 1
    told = capsys.readouterr().out
    assert f"prod/secret.yaml:1: {error}" in told
    assert "dev/secret.yaml" not in told
