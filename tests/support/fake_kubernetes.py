"""The API server of a cluster on a real socket: Secrets and ConfigMaps, their versions, a Role, and a service account.

    async with FakeKubernetes(private_ca.make(folder), folder / "account") as cluster:
        cluster.make("secrets", "default", "db", {"password": "hunter2"})
        cluster.forbid("update", "secrets")
        ... open_kubernetes(cluster.environment, clock, cluster.folder) ... cluster.requests ... cluster.data("secrets", ...)

`folder` gets the files that Kubernetes mounts into a pod; `environment` are its variables. It behaves as a
kube-apiserver 1.36 did (docs/tested-servers.md): a write that carries an old version is a conflict, a token that was
rotated out is refused, a dry run stores nothing, and all that may not be done answers with 403, whether a right is
missing, a quota is used up, the namespace is being deleted or admission refuses. Only the text distinguishes them.
"""

import base64
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from gitsync.emulator.http.listener import Listener
from tests.support.fake_key_vault import Fault
from tests.support.private_ca import PrivateCa

VERBS = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}
ACCOUNT = "system:serviceaccount:jobs:gitsync"
REVIEWS = "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
POLICY = "ValidatingAdmissionPolicy 'labels' with binding 'labels' denied request: every Secret needs a team"
WEBHOOK = 'admission webhook "vault.example.com" denied the request: no plain secrets'
MISSING = (
    f'secrets "db" is forbidden: User "{ACCOUNT}" cannot get resource "secrets" in API group "" in the namespace '
    '"default"'
)
STARTING = (
    f'{MISSING}: RBAC: [clusterrole.rbac.authorization.k8s.io "system:discovery" not found, '
    'clusterrole.rbac.authorization.k8s.io "system:basic-user" not found]'
)
NO_DRY_RUN = 'admission webhook "vault.example.com" does not support dry run'


@dataclass(frozen=True)
class Forbidden:
    """Where a right is missing: in one namespace ("": in all), but not for objects of these names."""

    namespace: str
    except_names: tuple[str, ...]

    def covers(self, namespace: str, name: str) -> bool:
        return self.namespace in {"", namespace} and name not in self.except_names


@dataclass(frozen=True)
class Admission:
    """What admission refuses each write with, or each dry run only."""

    code: int
    reason: str
    message: str
    only_rehearsals: bool = False


@dataclass(frozen=True)
class Called:
    """One request."""

    line: str  # method and path, with `?dryRun=All` for one
    token: str
    body: Any


class FakeKubernetes:
    """`namespaces` are those that exist. `meanwhile[line]` is called once, before the request of that line is served."""

    def __init__(self, ca: PrivateCa, folder: Path, namespaces: tuple[str, ...] = ("default", "jobs")) -> None:
        self.folder = folder
        self.requests: list[Called] = []
        self.environment: dict[str, str] = {}
        self.meanwhile: dict[str, Callable[[], None]] = {}
        self._ca, self._namespaces = ca, namespaces
        self._objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._forbidden: dict[tuple[str, str], Forbidden] = {}
        self._terminating: set[str] = set()
        self._quota: dict[str, int] = {}
        self.admission: Admission | None = None
        self.has_basic_user = True
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._version = 0
        self._token = ""

    async def __aenter__(self) -> Self:
        self._listener = Listener(self._answer, grace=0.1)
        self.url = await self._listener.open(tls=self._ca.tls)
        port = self.url.rpartition(":")[2]
        self.environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "ca.crt").write_bytes(self._ca.bundle.read_bytes())
        (self.folder / "namespace").write_text("jobs")
        self.rotate("token-1")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listener.close()

    def rotate(self, token: str) -> None:
        """Write a new token, as the kubelet does; the old one is refused."""
        (self.folder / "token").write_text(token)
        self._token = token

    def forbid(self, verb: str, resource: str, *, namespace: str = "", except_names: tuple[str, ...] = ()) -> None:
        """Take a right away, in one namespace or in all of them; a Role may leave it for objects of some names."""
        self._forbidden[verb, resource] = Forbidden(namespace, except_names)

    def limit(self, resource: str, most: int) -> None:
        """Give each namespace a ResourceQuota `few`, of so many objects."""
        self._quota[resource] = most

    def terminate(self, namespace: str) -> None:
        """Begin to delete a namespace: nothing new can be made in it."""
        self._terminating.add(namespace)

    def allow(self, verb: str, resource: str) -> None:
        self._forbidden.pop((verb, resource))

    def fail(self, line: str, *faults: Fault) -> None:
        """Answer the next requests of a line so, one after the other."""
        self._faults[line].extend(faults)

    def make(
        self, resource: str, namespace: str, name: str, data: Mapping[str, str | bytes], **members: Any
    ) -> dict[str, Any]:
        """Put an object there, as a person would; `members` are of its top, and `metadata` adds to its own."""
        metadata = {"name": name, "namespace": namespace, **members.pop("metadata", {})}
        raw = {key: value.encode() if isinstance(value, str) else value for key, value in data.items()}
        is_secret = resource == "secrets"
        shown = {key: base64.b64encode(value).decode() if is_secret else value.decode() for key, value in raw.items()}
        made = {"metadata": metadata, "data": shown, **members}
        return self._keep((resource, namespace, name), made)

    def there(self, resource: str, namespace: str, name: str) -> dict[str, Any]:
        return self._objects[resource, namespace, name]

    def has(self, resource: str, namespace: str, name: str) -> bool:
        return (resource, namespace, name) in self._objects

    def data(self, resource: str, namespace: str, name: str) -> dict[str, str]:
        data = self.there(resource, namespace, name).get("data") or {}
        if resource == "configmaps":
            return data
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def names(self, resource: str, namespace: str) -> list[str]:
        return sorted(name for (kind, where, name) in self._objects if (kind, where) == (resource, namespace))

    def lines(self, *methods: str) -> list[str]:
        return [call.line for call in self.requests if not methods or call.line.split()[0] in methods]

    def _keep(self, at: tuple[str, str, str], made: dict[str, Any]) -> dict[str, Any]:
        self._version += 1
        kind = {"secrets": "Secret", "configmaps": "ConfigMap"}[at[0]]
        metadata = {**made["metadata"], "uid": f"uid-{'-'.join(at)}", "resourceVersion": str(self._version)}
        typed = {"type": made.get("type", "Opaque")} if kind == "Secret" else {}
        self._objects[at] = {"apiVersion": "v1", "kind": kind, **made, **typed, "metadata": metadata}
        return self._objects[at]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        is_rehearsal = request.query.get("dryRun") == "All"
        line = f"{request.method} {request.path}{'?dryRun=All' if is_rehearsal else ''}"
        body = json.loads(raw) if raw else None
        self.requests.append(Called(line, token, body))
        if token != self._token:
            return status(401, "Unauthorized", "Unauthorized")
        if line in self.meanwhile:
            self.meanwhile.pop(line)()
        if self._faults[line]:
            return self._fault(request, self._faults[line].popleft())
        if request.path.endswith("/selfsubjectaccessreviews"):
            return self._review(body)
        _, _, _, _, namespace, resource, *rest = request.path.split("/")
        verb, name = VERBS[request.method], rest[0] if rest else body["metadata"]["name"]
        refused = self._refuse(verb, namespace, resource, name, is_rehearsal=is_rehearsal)
        return refused or self._serve(verb, namespace, resource, name, body, is_rehearsal=is_rehearsal)

    def _review(self, body: Any) -> web.Response:
        if not self.has_basic_user:
            kind = "selfsubjectaccessreviews"
            group = "authorization.k8s.io"
            message = (
                f'{kind}.{group} is forbidden: User "{ACCOUNT}" cannot create resource "{kind}" in API group "{group}" '
                "at the cluster scope"
            )
            return status(403, "Forbidden", message, details={"group": group, "kind": kind})
        requested = body["spec"]["resourceAttributes"]
        is_forbidden = self._lacks(
            requested["verb"], requested["namespace"], requested["resource"], requested.get("name") or ""
        )
        return web.json_response({**body, "status": {"allowed": not is_forbidden}}, status=201)

    def _lacks(self, verb: str, namespace: str, resource: str, name: str) -> bool:
        forbidden = self._forbidden.get((verb, resource))
        return forbidden is not None and forbidden.covers(namespace, name)

    def _refuse(
        self, verb: str, namespace: str, resource: str, name: str, *, is_rehearsal: bool
    ) -> web.Response | None:
        """What authorization and admission say, in the order of the server; None if they let it pass."""
        details = {"name": name, "kind": resource}
        if self._lacks(verb, namespace, resource, name):
            what = resource if verb == "create" else f'{resource} "{name}"'
            message = (
                f'{what} is forbidden: User "{ACCOUNT}" cannot {verb} resource "{resource}" in API group "" in the '
                f'namespace "{namespace}"'
            )
            return status(403, "Forbidden", message, details={"kind": resource} if verb == "create" else details)
        if verb not in {"create", "update"}:
            return None
        if verb == "create" and namespace in self._terminating:
            message = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
            message = f'{resource} "{name}" is forbidden: {message}'
            return status(403, "Forbidden", message, details={**details, "causes": [cause]})
        if verb == "create" and (used := len(self.names(resource, namespace))) >= self._quota.get(resource, used + 1):
            numbers = f"requested: {resource}=1, used: {resource}={used}, limited: {resource}={self._quota[resource]}"
            message = f'{resource} "{name}" is forbidden: exceeded quota: few, {numbers}'
            return status(403, "Forbidden", message, details=details)
        if self.admission and (is_rehearsal or not self.admission.only_rehearsals):
            return status(self.admission.code, self.admission.reason, self.admission.message, details=details)
        return None

    def _fault(self, request: web.Request, fault: Fault) -> web.Response:
        if fault.drop and request.transport:
            request.transport.close()
        if fault.raw:
            return web.Response(status=fault.status, text=fault.raw, headers=fault.headers)
        return status(fault.status, fault.code, fault.message, fault.headers)

    def _serve(
        self, verb: str, namespace: str, resource: str, name: str, body: Any, *, is_rehearsal: bool
    ) -> web.Response:
        at = (resource, namespace, name)
        there = self._objects.get(at)
        if verb == "create" and namespace not in self._namespaces:
            return status(404, "NotFound", f'namespaces "{namespace}" not found')
        if verb == "create" and there is not None:
            return status(409, "AlreadyExists", f'{resource} "{name}" already exists')
        if verb != "create" and there is None:
            return status(404, "NotFound", f'{resource} "{name}" not found')
        if verb in {"update", "delete"} and not is_as_seen(verb, body, there):
            return status(
                409, "Conflict", f'Operation cannot be fulfilled on {resource} "{name}": please apply your changes'
            )
        if verb == "delete":
            del self._objects[at]
            return web.json_response({"kind": "Status", "apiVersion": "v1", "status": "Success"})
        if verb == "update" and there.get("immutable"):
            return status(422, "Invalid", "data: Forbidden: field is immutable when `immutable` is set")
        found = there if verb == "get" else body if is_rehearsal else self._keep(at, body)
        return web.json_response(found, status=201 if verb == "create" else 200)


def is_as_seen(verb: str, body: Any, there: Mapping[str, Any]) -> bool:
    """Whether an object still has the version that a request names; a delete may name none."""
    version = there["metadata"]["resourceVersion"]
    if verb == "delete":
        return (body or {}).get("preconditions", {}).get("resourceVersion", version) == version
    return body["metadata"].get("resourceVersion") == version


def status(
    code: int,
    reason: str,
    message: str,
    headers: Mapping[str, str] | None = None,
    details: Mapping[str, Any] | None = None,
) -> web.Response:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        **({"details": details} if details else {}),
        "code": code,
    }
    return web.json_response(body, status=code, headers=headers)
