"""The API server of a cluster on a real socket: Secrets and ConfigMaps, their versions, a Role, and a service account.

    async with FakeKubernetes(private_ca.make(folder), folder / "account") as cluster:
        cluster.make("secrets", "default", "db", {"password": "hunter2"})
        cluster.forbid("update", "secrets")
        ... open_kubernetes(cluster.environment, clock, cluster.folder) ... cluster.requests ... cluster.data("secrets", ...)

`folder` gets the files that Kubernetes mounts into a pod; `environment` are its variables. It behaves as Kubernetes
documents: a write that carries an old version is a conflict, what may not be done answers with a Status that names the
right, and a token that was rotated out is refused.
"""

import asyncio
import base64
import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from aiohttp import web
from fake_key_vault import Fault
from private_ca import PrivateCa

VERBS = {"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}
ACCOUNT = "system:serviceaccount:jobs:gitsync"


@dataclass(frozen=True)
class Called:
    """One request: `line` is method and path."""

    line: str
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
        self._forbidden: set[tuple[str, str]] = set()
        self._faults: defaultdict[str, deque[Fault]] = defaultdict(deque)
        self._version = 0
        self._token = ""

    async def __aenter__(self) -> Self:
        self._runner = web.ServerRunner(web.Server(self._answer), shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=self._ca.tls).start()
        port = self._runner.addresses[0][1]
        self.url = f"https://127.0.0.1:{port}"
        self.environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(port)}
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "ca.crt").write_bytes(self._ca.bundle.read_bytes())
        (self.folder / "namespace").write_text("jobs")
        self.rotate("token-1")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()
        await asyncio.sleep(0)

    def rotate(self, token: str) -> None:
        """Write a new token, as the kubelet does; the old one is refused."""
        (self.folder / "token").write_text(token)
        self._token = token

    def forbid(self, verb: str, resource: str) -> None:
        self._forbidden.add((verb, resource))

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
        line = f"{request.method} {request.path}"
        body = json.loads(raw) if raw else None
        self.requests.append(Called(line, token, body))
        if token != self._token:
            return status(401, "Unauthorized", "Unauthorized")
        if line in self.meanwhile:
            self.meanwhile.pop(line)()
        if self._faults[line]:
            return self._fault(request, self._faults[line].popleft())
        if request.path.endswith("/selfsubjectaccessreviews"):
            return web.json_response({**body, "status": {"allowed": True}}, status=201)
        _, _, _, _, namespace, resource, *rest = request.path.split("/")
        return self._serve(
            VERBS[request.method], namespace, resource, rest[0] if rest else body["metadata"]["name"], body
        )

    def _fault(self, request: web.Request, fault: Fault) -> web.Response:
        if fault.drop and request.transport:
            request.transport.close()
        if fault.raw:
            return web.Response(status=fault.status, text=fault.raw, headers=fault.headers)
        return status(fault.status, fault.code, fault.message, fault.headers)

    def _serve(self, verb: str, namespace: str, resource: str, name: str, body: Any) -> web.Response:
        at = (resource, namespace, name)
        there = self._objects.get(at)
        if (verb, resource) in self._forbidden:
            said = f'{resource} "{name}" is forbidden: User "{ACCOUNT}" cannot {verb} resource "{resource}"'
            return status(403, "Forbidden", said)
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
        found = there if verb == "get" else self._keep(at, body)
        return web.json_response(found, status=201 if verb == "create" else 200)


def is_as_seen(verb: str, body: Any, there: Mapping[str, Any]) -> bool:
    """Whether an object still has the version that a request names; a delete may name none."""
    version = there["metadata"]["resourceVersion"]
    if verb == "delete":
        return (body or {}).get("preconditions", {}).get("resourceVersion", version) == version
    return body["metadata"].get("resourceVersion") == version


def status(code: int, reason: str, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }
    return web.json_response(body, status=code, headers=headers)
