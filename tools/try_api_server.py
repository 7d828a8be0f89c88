"""Try the source and the sink `kubernetes` on a real API server (docs/tested-servers.md).

    python tools/try_api_server.py --kube-apiserver PATH --etcd PATH

It starts both programs on the loopback interface, makes a service account with the Role of docs/secrets.md, and takes
gitsync's client through the table of cases; one of them runs the commands of docs/from-aso.md with kubectl. It prints
the output of each; the exit code is 1 if a case ended in another way, and 2 if a program is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml
from api_server import Server, running
from from_aso_page import follow_page

from gitsync.errors import GitsyncError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.kubernetes.kubernetes import Kubernetes, open_kubernetes
from gitsync.repository.secrets.protocols import ExportNeeds
from gitsync.repository.secrets.sinks.status import KeptConfigMaps

TOP = Path(__file__).resolve().parent.parent
REDIS = Owner(Key("cache.azure.com", "Redis", "default", "cache"))
BLUE = replace(REDIS, agent="blue")
RBAC = "/apis/rbac.authorization.k8s.io/v1"
VALUE = "a-made-up-value"
FINE = "fine"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kube-apiserver", default="kube-apiserver")
    parser.add_argument("--etcd", default="etcd")
    options = parser.parse_args()
    programs = [shutil.which(options.kube_apiserver), shutil.which(options.etcd)]
    if None in [*programs, shutil.which("kubectl")]:
        print("kube-apiserver, etcd and kubectl are needed: give the paths of the first two.", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="gitsync-api-server-") as name:
        folder = Path(name)
        with running(str(programs[0]), str(programs[1]), folder) as server:
            return try_all(Bench(server, folder / "account"))


def try_all(bench: Bench) -> int:
    """Every case, in order: a later one may rest on what an earlier one made."""
    bench.prepare()
    print(f"kube-apiserver {bench.server.ask('GET', '/version')['gitVersion']}")
    failed = sum(not try_case(bench, case) for case in CASES)
    print(f"{len(CASES) - failed} of {len(CASES)} cases ended as expected.")
    return 1 if failed else 0


def try_case(bench: Bench, case: Case) -> bool:
    outcome = asyncio.run(bench.act(case.act))
    is_expected = re.search(case.expected, outcome) is not None
    print(f"{'ok  ' if is_expected else 'DIFF'} {case.name}\n       {outcome}")
    return is_expected


@dataclass
class Bench:
    """The server, and what is mounted into the pod."""

    server: Server
    account: Path
    environment: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        for namespace in ("default", "jobs", "ended", "bare"):
            if namespace != "default":
                self.server.send_request("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        self.server.send_request("POST", "/api/v1/namespaces/jobs/serviceaccounts", {"metadata": {"name": "gitsync"}})
        for namespace in ("default", "ended"):
            self.grant(namespace)
        self.account.mkdir()
        (self.account / "ca.crt").write_bytes(self.server.ca.read_bytes())
        (self.account / "namespace").write_text("jobs")
        self.renew_token()
        self.environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.server.port)}

    def grant(self, namespace: str) -> None:
        role = read_role()
        role["metadata"]["namespace"] = namespace
        self.server.send_request("POST", f"{RBAC}/namespaces/{namespace}/roles", role)
        binding = {
            "metadata": {"name": "gitsync"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "gitsync"},
            "subjects": [{"kind": "ServiceAccount", "name": "gitsync", "namespace": "jobs"}],
        }
        self.server.send_request("POST", f"{RBAC}/namespaces/{namespace}/rolebindings", binding)

    def renew_token(self) -> None:
        """As the kubelet does."""
        answer = self.server.send_request("POST", "/api/v1/namespaces/jobs/serviceaccounts/gitsync/token", {"spec": {}})
        (self.account / "token").write_text(answer["status"]["token"])

    def show(self, address: Address) -> Any:
        kind = "secrets" if address.object_kind is ObjectKind.SECRET else "configmaps"
        return self.server.send_request("GET", f"/api/v1/namespaces/{address.namespace}/{kind}/{address.name}")

    async def act(self, action: Action) -> str:
        """What an action prints, or the error that it ends with."""
        try:
            async with open_kubernetes(self.environment, SystemClock(), self.account) as cluster:
                return await action(self, cluster)
        except GitsyncError as error:
            return str(error)


Action = Callable[[Bench, Kubernetes], Awaitable[str]]


@dataclass(frozen=True)
class Case:
    """One case."""

    name: str
    act: Action
    expected: str  # a pattern that occurs in what the action prints


def read_role() -> dict[str, Any]:
    """The Role of a run as the documentation has it."""
    text = (TOP / "docs/secrets.md").read_text()
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    (role,) = (block for block in blocks if block["kind"] == "Role" and block["metadata"]["name"] == "gitsync")
    document: dict[str, Any] = role
    return document


def at(name: str, namespace: str = "default", object_kind: ObjectKind = ObjectKind.SECRET) -> Address:
    return Address(object_kind, namespace, name)


def make_export(address: Address, owner: Owner = REDIS, **data: str) -> Export:
    return Export(address=address, owner=owner, data={key: Secret(value) for key, value in data.items()})


async def write(cluster: Kubernetes, *exports: Export) -> str:
    """As a run does: owners first, then a rehearsal of all, then the writes."""
    await ExportSinks([cluster], {}, KeptConfigMaps({})).write(exports)
    return FINE


async def read_what_is_there(bench: Bench, cluster: Kubernetes) -> str:
    body = {"metadata": {"name": "db"}, "stringData": {"password": "hunter2\n"}}
    bench.server.send_request("POST", "/api/v1/namespaces/default/secrets", body)
    found = await cluster.read(at("db"), ["password", "user"])
    return (
        FINE if found and {key: value.reveal() for key, value in found.items()} == {"password": "hunter2\n"} else "no"
    )


async def read_what_is_absent(_bench: Bench, cluster: Kubernetes) -> str:
    return FINE if await cluster.read(at("none"), ["key"]) is None else "no"


async def check_all_rights(_bench: Bench, cluster: Kubernetes) -> str:
    await cluster.check()
    addresses = (at("lake"), at("where", object_kind=ObjectKind.CONFIG_MAP))
    await cluster.check_access(ExportNeeds(written=addresses, removed=addresses))
    return FINE


async def check_missing_rights(_bench: Bench, cluster: Kubernetes) -> str:
    await cluster.check_access(ExportNeeds(written=(at("lake", "bare"),)))
    return FINE


async def read_without_a_role(_bench: Bench, cluster: Kubernetes) -> str:
    await cluster.read(at("aso-credential", "bare"), [])
    return FINE


async def apply_the_role_of_the_hint(bench: Bench, cluster: Kubernetes) -> str:
    """The hint of the refusal, applied, is what was missing."""
    try:
        await cluster.check_access(ExportNeeds(written=(at("lake", "bare"),)))
    except GitsyncError as error:
        for item in yaml.safe_load(error.hint.partition(": ")[2])["items"]:
            kind = {"Role": "roles", "RoleBinding": "rolebindings"}[item["kind"]]
            bench.server.send_request("POST", f"{RBAC}/namespaces/bare/{kind}", item)
    await cluster.check_access(ExportNeeds(written=(at("lake", "bare"),)))
    return await write(cluster, make_export(at("lake", "bare"), key=VALUE))


async def create_and_replace(bench: Bench, cluster: Kubernetes) -> str:
    where = at("where", object_kind=ObjectKind.CONFIG_MAP)
    await write(cluster, make_export(at("lake"), first="1"), make_export(where, blob="https://lake"))
    await write(cluster, make_export(at("lake"), second="2"), make_export(where, blob="https://lake"))
    stored = bench.show(at("lake"))
    is_complete = list(stored["data"]) == ["second"] and stored["metadata"]["annotations"]["gitsync/owner"] == str(
        REDIS
    )
    return FINE if is_complete else str(stored)


async def write_nothing_twice(bench: Bench, cluster: Kubernetes) -> str:
    before = bench.show(at("lake"))["metadata"]["resourceVersion"]
    await write(cluster, make_export(at("lake"), second="2"))
    return FINE if bench.show(at("lake"))["metadata"]["resourceVersion"] == before else "it was written"


async def meet_a_conflict(bench: Bench, cluster: Kubernetes) -> str:
    """Somebody writes between the read and the write."""
    await cluster.owner(at("lake"))
    stored = bench.show(at("lake"))
    stored["metadata"]["labels"]["by"] = "hand"
    bench.server.send_request("PUT", "/api/v1/namespaces/default/secrets/lake", stored)
    await cluster.write(make_export(at("lake"), third="3"))
    return FINE if list(bench.show(at("lake"))["data"]) == ["third"] else "the write was lost"


async def write_over_a_person(_bench: Bench, cluster: Kubernetes) -> str:
    return await write(cluster, make_export(at("db"), password="mine"))  # noqa: S106 - made up


async def write_over_another_agent(_bench: Bench, cluster: Kubernetes) -> str:
    await write(cluster, make_export(at("theirs"), BLUE, key=VALUE))
    return await write(cluster, make_export(at("theirs"), key=VALUE))


async def write_over_another_repository(_bench: Bench, cluster: Kubernetes) -> str:
    await write(cluster, make_export(at("shared"), replace(REDIS, repository="git.example/one"), key=VALUE))
    return await write(cluster, make_export(at("shared"), replace(REDIS, repository="git.example/two"), key=VALUE))


async def rotate_the_token(bench: Bench, cluster: Kubernetes) -> str:
    """A token that is not accepted any more, and the next one in its place."""
    token = (bench.account / "token").read_text()
    (bench.account / "token").write_text(f"{token[:-4]}aaaa")
    try:
        await cluster.read(at("db"), [])
    except GitsyncError as error:
        bench.renew_token()
        await cluster.read(at("db"), [])
        return str(error)
    return FINE


async def have_an_empty_token(bench: Bench, cluster: Kubernetes) -> str:
    (bench.account / "token").write_text("")
    try:
        await cluster.read(at("db"), [])
    finally:
        bench.renew_token()
    return FINE


async def trust_another_authority(bench: Bench, _cluster: Kubernetes) -> str:
    from api_server import make_certificates  # noqa: PLC0415 - for this case alone

    folder = bench.account.parent / "other"
    folder.mkdir()
    make_certificates(folder)
    account = folder / "account"
    shutil.copytree(bench.account, account)
    (account / "ca.crt").write_bytes((folder / "ca.pem").read_bytes())
    async with open_kubernetes(bench.environment, SystemClock(), account) as cluster:
        await cluster.check()
    return FINE


async def meet_a_restart(bench: Bench, cluster: Kubernetes) -> str:
    """The server is away for some seconds, and then refuses everything until it has read its roles."""
    bench.server.stop()
    restart = asyncio.create_task(asyncio.to_thread(start_late, bench.server))
    await cluster.read(at("db"), [])
    await cluster.check_access(ExportNeeds(written=(at("lake"),)))
    await restart
    return FINE


def start_late(server: Server) -> None:
    time.sleep(5)  # noqa: TID251 - programs of others take real time
    server.start()


async def use_up_the_quota(bench: Bench, cluster: Kubernetes) -> str:
    """No controller counts here, so the numbers are put there by hand. The config map must not be left behind."""
    path = "/api/v1/namespaces/default/resourcequotas"
    quota = bench.server.send_request("POST", path, {"metadata": {"name": "few"}, "spec": {"hard": {"secrets": "3"}}})
    quota["status"] = {"hard": {"secrets": "3"}, "used": {"secrets": "3"}}
    bench.server.send_request("PUT", f"{path}/few/status", quota)
    try:
        return await write(
            cluster,
            make_export(at("half", object_kind=ObjectKind.CONFIG_MAP), key=VALUE),
            make_export(at("more"), key=VALUE),
        )
    except GitsyncError as error:
        left = await cluster.owner(at("half", object_kind=ObjectKind.CONFIG_MAP))
        return f"{error} Left behind: {left}."
    finally:
        bench.server.send_request("DELETE", f"{path}/few")


async def write_to_a_namespace_that_ends(bench: Bench, cluster: Kubernetes) -> str:
    bench.server.send_request("DELETE", "/api/v1/namespaces/ended")
    return await write(cluster, make_export(at("late", "ended"), key=VALUE))


async def write_to_no_namespace(_bench: Bench, cluster: Kubernetes) -> str:
    return await write(cluster, make_export(at("lake", "nowhere"), key=VALUE))


async def meet_a_policy(bench: Bench, cluster: Kubernetes) -> str:
    bench.server.send_request(
        "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", make_policy()
    )
    binding = {"metadata": {"name": "labels"}, "spec": {"policyName": "labels", "validationActions": ["Deny"]}}
    bench.server.send_request(
        "POST", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings", binding
    )
    for _ in range(60):  # the server takes a moment to see its policies
        await asyncio.sleep(1)
        try:
            await cluster.owner(at("labelled"))
            await cluster.rehearse([make_export(at("labelled"), key=VALUE)])
        except GitsyncError:
            break
    return await write(cluster, make_export(at("labelled"), key=VALUE))


def make_policy() -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["secrets"]}
    expression = "'team' in object.metadata.labels"
    return {
        "metadata": {"name": "labels"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": "every Secret needs a team"}],
        },
    }


async def remove_what_is_ours(bench: Bench, cluster: Kubernetes) -> str:
    for address in (at("lake"), at("db"), at("theirs")):
        await cluster.remove(address, REDIS)
    listed = bench.server.send_request("GET", "/api/v1/namespaces/default/secrets")["items"]
    names = {item["metadata"]["name"] for item in listed}
    return FINE if names >= {"db", "theirs"} and "lake" not in names else str(sorted(names))


async def apply_the_cron_job(bench: Bench, _cluster: Kubernetes) -> str:
    """As `kubectl apply --dry-run=server` does."""
    bench.server.send_request("POST", "/api/v1/namespaces", {"metadata": {"name": "gitsync"}})
    files = (TOP / "deploy/kubernetes" / name for name in ("service-account.yaml", "cronjob.yaml"))
    for document in (document for file in files for document in list_documents(file)):
        version, kind = document["apiVersion"], document["kind"].lower()
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
        bench.server.send_request(
            "POST", f"{prefix}/namespaces/gitsync/{kind}s?dryRun=All&fieldValidation=Strict", document
        )
    return FINE


def list_documents(path: Path) -> Iterator[Any]:
    return (document for document in yaml.safe_load_all(path.read_text()) if document)


async def lose_basic_user(bench: Bench, cluster: Kubernetes) -> str:
    path = f"{RBAC}/clusterrolebindings/system:basic-user"
    binding = bench.server.send_request("GET", path)
    binding["subjects"] = []
    bench.server.send_request("PUT", path, binding)
    for _ in range(60):
        await asyncio.sleep(1)
        await cluster.check()
    return FINE


async def follow_the_page_of_aso(bench: Bench, _cluster: Kubernetes) -> str:
    return await asyncio.to_thread(follow_page, bench.server, bench.account.parent / "from-aso")


CASES = (
    Case("the commands of docs/from-aso.md do what it describes", follow_the_page_of_aso, FINE),
    Case("a Secret is read", read_what_is_there, FINE),
    Case("a Secret that is not there is absent", read_what_is_absent, FINE),
    Case("the Role of the documentation has every right", check_all_rights, FINE),
    Case(
        "missing rights are named before the run",
        check_missing_rights,
        "jobs:gitsync may not .*: create secrets in namespace bare, get secrets .*, update secrets .*kind: Role",
    ),
    Case(
        "a read without a Role names the Role",
        read_without_a_role,
        r'\(403\): secrets "aso-credential" is forbidden: .* cannot get resource "secrets".*kind: RoleBinding',
    ),
    Case("the Role of the hint is what was missing", apply_the_role_of_the_hint, FINE),
    Case("objects are created and replaced whole", create_and_replace, FINE),
    Case("an equal object is not written", write_nothing_twice, FINE),
    Case("a conflict is read again", meet_a_conflict, FINE),
    Case("a person's object stays", write_over_a_person, "cannot overwrite Secret default/db which is not owned by"),
    Case("another agent's object names the agent", write_over_another_agent, "of the agent blue exports it"),
    Case(
        "another repository's object names the repository",
        write_over_another_repository,
        "is exported from the repository git.example/one, not from git.example/two",
    ),
    Case("a refused token is read again", rotate_the_token, r"\(401\).*its token is not accepted"),
    Case("a server that restarts is waited for", meet_a_restart, FINE),
    Case("an empty token is named", have_an_empty_token, "The token of the service account is empty"),
    Case(
        "a certificate of another CA is named", trust_another_authority, "certificate of the API server is not accepted"
    ),
    Case(
        "a quota is named, and nothing is half exported",
        use_up_the_quota,
        r"because of a quota \(403\): .*exceeded quota: few.* Left behind: None\.",
    ),
    Case(
        "a namespace that is being deleted is named",
        write_to_a_namespace_that_ends,
        r"because the namespace is being deleted \(403\): .*because it is being terminated",
    ),
    Case("a namespace that is missing needs a Role", write_to_no_namespace, r"\(403\).*kind: Role"),
    Case("an admission policy is named", meet_a_policy, r"because of an admission policy \(422\)"),
    Case("what is ours is removed, and nothing else", remove_what_is_ours, FINE),
    Case("the CronJob of the examples is accepted", apply_the_cron_job, FINE),
    Case("a missing system:basic-user is named", lose_basic_user, r"system:basic-user is not bound \(403\)"),
)

if __name__ == "__main__":
    sys.exit(main())
