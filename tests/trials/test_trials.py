"""Trials that failed once, as a table: each folder of ../shared/trials runs with the real commands."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import private_ca
from tests.support.command_line import in_background
from tests.support.recordings import needs_recordings
from tests.support.scripted_server import Say, ScriptedServer, serving
from tests.support.trials import GROUP_ID, TRIALS, Trial

OPEN = True
"""Marks a row whose trial still fails. A fix removes the word: a row that is marked and passes fails."""

GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {{name: {}}}\nspec: {{location: westeurope}}\n"
TENANT = "22222222-2222-4222-8222-222222222222"


class Row(NamedTuple):
    """How a trial runs and is evaluated."""

    why: str  # the rule that it was about
    play: Callable[[Trial], None]
    is_open: bool


TABLE: dict[str, Row] = {}


def row(name: str, why: str, is_open: bool = False) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    def enter(play: Callable[[Trial], None]) -> Callable[[Trial], None]:
        TABLE[name] = Row(why, play, is_open)
        return play

    return enter


@row("advice-for-AADSTS700024", "The advice for a token that is too old is about its age.")
def play_old_assertion(trial):
    expired = {
        "error": "invalid_client",
        "error_description": "AADSTS700024: Client assertion is not within its valid time range.",
    }
    head, body = ({"alg": "none"}, {"exp": int(time.time()) - 60})
    token = trial.folder / "token"
    token.write_text(
        ".".join([*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in (head, body)), "x"])
    )
    trial.commit({"g.yaml": GROUP.format("g")})
    with signing_in(trial) as (entra, variables):
        entra.on("POST", f"/{TENANT}/oauth2/v2.0/token", Say(401, expired))
        said = trial.run("plan", "--credential", "workload-identity", "--federated-token-file", str(token), **variables)
    assert said.code != 0
    assert "AADSTS700024" in said.text
    assert "id-token: write" in said.text
    assert "Check AZURE_TENANT_ID" not in said.text


@row(
    "appset-printf",
    "The builtins of Go templates are rendered, and a set that is not read is what releases a chart.",
)
def play_go_builtins(trial):
    trial.git("remote", "add", "origin", "https://github.com/contoso/estate")
    trial.use_all()
    assert "InvalidApplication" not in trial.run("validate").text
    trial.edit("apps/set.yaml", lambda text: text.replace("printf", "nobodyKnowsThis"))
    said = trial.run("validate")
    assert "apps/set.yaml" in said.text.partition("HelmChart")[2]


@row("autoscaler-and-channel", "A value that the manifest hands to Azure is no drift.")
def play_autoscaler(trial):
    trial.use("a.yaml")
    assert trial.run("sync").code == 0
    cluster = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/aks"
    trial.set(f"{cluster}/agentPools/users", {"/properties/count": 7})
    trial.set(cluster, {"/properties/kubernetesVersion": "1.27.14"})
    planned = trial.run("plan")
    assert "would change nothing" in planned.text
    assert "7 → 3" not in planned.text
    assert "1.27.14 → 1.27.3" not in planned.text


@row("azurename-of-a-map", "A name that the type can never have is an error before Azure says so.")
def play_name_of_map(trial):
    trial.script(
        'rules: [{match: {path: "*map*"}, answer: {status: 400, code: InvalidResourceGroup, message: "The provided'
        ' resource group name has these invalid characters."}}]'
    )
    trial.use("a1.yaml")
    validated = trial.run("validate")
    assert validated.code == 1
    assert "azureName" in validated.text
    assert "Grant" not in trial.run("sync").text
    trial.use("a2.yaml")
    assert "stays in Azure" not in trial.run("sync", "--prune").text


@row("concurrent-credentials-409", "A 409 that says that something goes on at the same time passes.")
def play_concurrent_write(trial):
    trial.script(
        "rules: [{match: {method: PUT, type: Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials,"
        " times: 1}, answer: {status: 409, code: ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity,"
        ' message: "Too many Federated Identity Credentials are written concurrently for the managed identity."}}]'
    )
    trial.use("a.yaml")
    said = trial.run("sync")
    assert said.code == 0
    assert said.writes == ["core", "me", "cred", "cred"]


@row("credential-secret-nowhere", "A credential that no source has is a warning, as for any other Secret.")
def play_missing_credential(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 0
    assert "nowhere" in said.text


@row("empty-list", "An empty list is a statement, and a PUT that empties a list is shown as such.")
def play_empty_list(trial):
    trial.use("a1.yaml")
    assert trial.run("sync").code == 0
    account = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/store123x"
    trial.set(account, {"/properties/networkAcls/ipRules": [{"value": "203.0.113.7", "action": "Allow"}]})
    assert "ipRules" in trial.run("plan").text
    trial.use("a2.yaml")
    assert "ipRules" in trial.run("plan").text


@row("ending-in-capitals", "A file that gitsync does not read may have what left another.")
def play_capitals(trial):
    trial.commit({f"{name}.yaml": GROUP.format(name) for name in ("g1", "g2", "g3")})
    assert trial.run("sync").code == 0
    trial.move("g1.yaml", "g1.YAML")
    trial.commit({})
    validated, planned = trial.run("validate"), trial.run("plan", "--prune")
    assert "g1.YAML" in validated.text or "3 resources" in validated.text
    assert "delete 1" not in planned.text
    assert "DELETE" not in {method for method, _, _ in trial.run("sync", "--prune").requests}


@row("etag-409", "A 409 that says that another operation is in progress passes, whatever its code.")
def play_etag(trial):
    trial.use("a1.yaml")
    assert trial.run("sync").code == 0
    trial.use("a2.yaml")
    progress = "Operation is not allowed: Another operation (Updating) is in progress, please wait for it to finish"
    for code, message in (("EtagMismatch", "Another operation is in progress"), ("OperationNotAllowed", progress)):
        trial.script(
            "rules: [{match: {method: PUT, type: Microsoft.ContainerService/managedClusters, times: 1}, answer: {status:"
            f' 409, code: {code}, message: "{message}"}}}}]'
        )
        said = trial.run("sync")
        assert said.code == 0
        methods = [method for method, path, _ in said.requests if path.endswith("/aks") and method in {"GET", "PUT"}]
        first, second = (at for at, method in enumerate(methods) if method == "PUT")
        assert "GET" in methods[first:second]
        trial.edit("a.yaml", lambda text: text.replace("count: 2", "count: 3"))


@row("final-state-ready", "A state that the type is known to end in ends a write.")
def play_ready(trial):
    trial.use("a.yaml")
    first = trial.run("sync", "--resource-timeout", "2s")
    assert first.code == 0
    again = trial.run("sync", "--resource-timeout", "2s")
    assert (again.code, again.writes) == (0, [])
    assert trial.run("status").code == 0


@row("hint-quotes-the-parsed-value", "A hint quotes the file, not what YAML made of it.")
def play_quoted_value(trial):
    trial.use("a.yaml")
    said = trial.run("validate")
    for text in ('"NO"', '"004"', '"6063e25"', '"1.30"'):
        assert text in said.text
    typed = ("country:", "team:", "sha:", "version:")
    trial.edit("a.yaml", lambda text: "".join(t for t in text.splitlines(True) if not t.strip().startswith(typed)))
    said = trial.run("validate")
    assert "1.10" in said.text


@row("identity-kept", "What Azure keeps of what left git is sent in another way, or said.")
def play_kept_identity(trial):
    trial.use("a1.yaml")
    assert trial.run("sync").code == 0
    trial.script("rules: [{match: {method: PUT, type: Microsoft.DocumentDB/databaseAccounts}, keep: [/identity]}]")
    trial.use("a2.yaml")
    assert "userAssignedIdentities/two" in trial.run("plan").text
    said = trial.run("sync")
    account = trial.read(f"{GROUP_ID}/providers/Microsoft.DocumentDB/databaseAccounts/cosmos123x")
    is_gone = not any(name.endswith("/two") for name in account["identity"]["userAssignedIdentities"])
    assert is_gone or ("kept" in said.text and said.code != 0)


@row("kustomization-builds-none", "A build that has none of what it names is a warning.")
def play_build_of_none(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 0
    assert "local-config" in said.text


@row("migrate-and-unknown-field", "Unknown fields are dropped before a version is chosen.")
def play_migration(trial):
    trial.use_all()
    said = trial.run("validate", "--unknown-fields", "warn")
    assert said.code == 0
    assert "VersionMigrated" in said.text
    assert "UnknownField" in said.text
    assert "UnknownVersion" not in said.text
    said = trial.run("validate")
    assert said.code == 1
    assert "spec.location" in said.text
    assert "the nearest, v1api20201101" not in said.text


@row("moved-into-broken-kustomization", "A delete is held while a unit that may have the resource is not built.")
def play_broken_kustomization(trial):
    trial.commit({f"{name}.yaml": GROUP.format(name) for name in ("g1", "g2", "g3")})
    assert trial.run("sync").code == 0
    trial.move("g1.yaml", "k/g1.yaml")
    trial.commit({"k/kustomization.yaml": "resources: [g1.yaml, missing.yaml]\n"})
    planned, said = trial.run("plan", "--prune"), trial.run("sync", "--prune")
    assert "k/kustomization.yaml" in planned.text
    assert said.code == 1
    assert said.sent("DELETE") == []


@row("name-prefix", "A hint names the tool that changed a name.")
def play_name_prefix(trial):
    trial.use_all()
    said = trial.run("validate", "base")
    assert said.code == 1
    assert "dev-core" in said.text
    assert "nameReference" in said.text


@row("not-a-group-of-aso", "A mention counts if it is a group of the catalog.")
def play_foreign_group(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 0
    assert "KustomizationFailed" in said.text
    assert "HelmChart" not in said.text


@row("object-added-by-a-patch", "The place of an object that a patch added is the patch.")
def play_added_object(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 1
    assert "over/kustomization.yaml:14" in said.text  # the field
    assert "base/cluster.yaml:5" not in said.text
    rendered, _ = json.JSONDecoder().raw_decode(trial.run("render", "-o", "json").text)
    assert {"path": "over/kustomization.yaml", "line": 8} in [resource["source"] for resource in rendered["resources"]]


@row("one-503-of-the-job-token", "A source of tokens is asked again as a read is.")
def play_flaky_tokens(trial):
    trial.commit({"g.yaml": GROUP.format("g")})
    job, entra_token = (
        Say(200, {"value": "job"}),
        Say(200, {"token_type": "Bearer", "expires_in": 3600, "access_token": "t"}),
    )
    busy = [Say(code, {"message": "The job is in Pending state."}) for code in (503, 429, 403)]
    cases = [([one, job], [entra_token]) for one in busy] + [([job], [Say(code), entra_token]) for code in (200, 503)]
    for jobs, tokens in cases:
        with signing_in(trial) as (entra, variables):
            entra.on("GET", "/job", *jobs)
            entra.on("POST", f"/{TENANT}/oauth2/v2.0/token", *tokens)
            more = {"ACTIONS_ID_TOKEN_REQUEST_URL": f"{entra.url}/job", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}
            said = trial.run("plan", "--credential", "workload-identity", **variables, **more)
        assert said.code == 0, said.text


@row("owner-in-a-rejected-document", "A declaration that was rejected is named with its line.")
def play_rejected_owner(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 1
    assert "net.yaml:1" in said.text.partition("OwnerNotFound")[2]


@row("placeholder-in-braces", "A mapping of one null value in the place of a text is a placeholder.")
def play_placeholder(trial):
    trial.use_all()
    said = trial.run("validate")
    assert said.code == 1
    assert '{"Resource Group Name": null}' not in said.text
    assert "has no spec.location" not in said.text


@row(
    "principal-of-an-assignment",
    "What cannot change needs a replacement, also where it is exported by what is made again.",
)
def play_principal(trial):
    trial.use("a.yaml")
    assert trial.run("sync").code == 0
    trial.delete(f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/me")
    assert "replace" in trial.run("plan").text
    trial.run("sync")
    planned, said = trial.run("plan"), trial.run("sync")
    assert "would update 1" not in planned.text
    assert "RoleAssignmentUpdateNotPermitted" not in said.text


@row("provider-not-registered", "A provider that is not registered is the headline, with the command.")
def play_unregistered_provider(trial):
    trial.create(GROUP_ID, {"location": "westeurope"})
    trial.script(
        "settings: {unregistered: [Microsoft.Storage], principals: [{clientId: anonymous, actions: ['*'], scopes:"
        f" [{GROUP_ID}]}}]}}"
    )
    trial.use("a.yaml")
    said = trial.run("sync")
    assert said.code == 1
    assert "MissingSubscriptionRegistration" in said.text.partition("AuthorizationFailed")[0]
    assert "az provider register --namespace Microsoft.Storage" in said.text


@row("renumber-network", "A parent and its child that change together are one PUT, or the plan names the circle.")
def play_renumbering(trial):
    trial.use("a1.yaml")
    assert trial.run("sync").code == 0
    trial.use("a2.yaml")
    planned, said = trial.run("plan"), trial.run("sync")
    assert said.code == 0 or "would update 2" not in planned.text


@row("submodule-empty", "What lies in a submodule that is not here is not read, and not gone.")
def play_submodule(trial):
    apps = {f"apps/{name}.yaml": GROUP.format(name) for name in ("g1", "g2", "g3")}
    trial.commit({**apps, "core.yaml": GROUP.format("core")})
    assert trial.run("sync").code == 0
    other, clone = trial.folder / "apps", trial.folder / "clone"
    trial.git("clone", "-q", ".", str(other))
    trial.git("rm", "-rqf", "apps")
    trial.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "apps")
    trial.git("commit", "-qam", "apps is a submodule now")
    trial.git("clone", "-q", ".", str(clone))
    trial.git("remote", "remove", "origin", folder=clone)
    planned = trial.run("plan", "--prune", "--max-deletes", "100", folder=clone)
    assert "apps" in planned.text
    assert "would delete" not in planned.text
    assert trial.run("sync", "--prune", folder=clone).sent("DELETE") == []


@row(
    "subscription-of-the-owner",
    "An owner in another subscription is a mistake of the manifest: nothing was written before.",
)
def play_owner_elsewhere(trial):
    trial.use_all()
    here = ("--subscription", "00000000-0000-0000-0000-000000000001")
    validated, planned = trial.run("validate", *here), trial.run("plan", *here)
    assert "00000000-0000-0000-0000-000000000002" in validated.text
    assert "armId" in planned.text
    assert " back to " not in planned.text


@row("tag-names-in-small-letters", "Names of tags have no case.")
def play_tags(trial):
    trial.create(GROUP_ID, {"location": "westeurope", "tags": {"environment": "Prod", "cost": "A"}})
    trial.use("a1.yaml")
    assert "would change nothing" in trial.run("plan").text
    said = trial.run("sync")
    assert (said.code, said.writes) == (0, [])
    trial.set(GROUP_ID, {"/tags/cost": "B"})
    assert '"B" → "A"' in trial.run("plan").text
    trial.edit("a.yaml", lambda text: text.replace("Cost: A", "Cost: A, cost: A"))
    assert trial.run("validate").code == 1


@row("undeletable-counted", "What Azure cannot delete is no delete.")
def play_undeletable(trial):
    trial.use("a1.yaml")
    assert trial.run("sync").code == 0
    trial.use("a2.yaml")
    assert "TooManyDeletes" not in trial.run("plan", "--prune", "--max-deletes", "0").text
    said = trial.run("sync", "--prune")
    assert said.code == 0 or "annotation" not in said.text


@row("variable-outside-a-value", "A line that a variable makes a comment is one.")
def play_variable(trial):
    trial.use_all()
    said = trial.run("validate")
    assert "UnknownField" not in said.text
    assert "no colon" not in said.text


@contextmanager
def signing_in(trial: Trial) -> Iterator[tuple[ScriptedServer, dict[str, str]]]:
    """A directory, and the variables that lead there."""
    authority = private_ca.make(trial.folder)
    with in_background(serving(authority.tls)) as entra:
        yield (
            entra,
            {
                "GITSYNC_CA_BUNDLE": str(authority.bundle),
                "AZURE_TENANT_ID": TENANT,
                "AZURE_CLIENT_ID": "33333333-3333-4333-8333-333333333333",
                "AZURE_AUTHORITY_HOST": entra.url,
            },
        )


def list_rows() -> Iterator[object]:
    for name, trial in TABLE.items():
        marks = [pytest.mark.xfail(strict=True, raises=AssertionError, reason=trial.why)] if trial.is_open else []
        yield pytest.param(trial.play, id=name, marks=marks)


@needs_recordings(TRIALS)
@pytest.mark.parametrize("play", list(list_rows()))
def test_trial(play: Callable[[Trial], None], request: pytest.FixtureRequest, tmp_path: Path) -> None:
    play(Trial(request.node.callspec.id, tmp_path))


@needs_recordings(TRIALS)
def test_every_trial_has_a_row() -> None:
    assert {folder.name for folder in TRIALS.iterdir() if folder.is_dir()} <= set(TABLE)
