"""The data plane of a Key Vault on a real socket: secrets and their versions, tags, soft delete, challenges and faults.

    async with FakeKeyVault(tls) as vault:
        vault.make("default--db--password", "hunter2")          # as a person would
        vault.fail("PUT", "/secrets/x", Fault(403, "ForbiddenByRbac"))
        ... vault.url ... vault.requests ... vault.values

`tls` is a server's context whose certificate is for 127.0.0.1 (`private_ca.make(folder).tls`). It behaves as Microsoft
documents the service: nothing is served without a token, a list comes in pages and without values, a deleted secret
keeps its name until it is recovered or purged, and a disabled one is not shown.
"""

import json
import ssl
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self
from urllib.parse import parse_qs, quote

from aiohttp import web
from azure.keyvault.secrets._shared import http_challenge_cache

from gitsync.emulator.http.listener import Listener

SAID = "said by the fake vault"


@dataclass(frozen=True)
class Requested:
    """One request, and whether a token came with it."""

    line: str  # method and path
    token: str
    body: Any

    @property
    def is_signed(self) -> bool:
        return bool(self.token)


@dataclass(frozen=True)
class Fault:
    """An answer instead of the right one."""

    status: int = 503
    code: str = ""  # the innermost
    message: str = SAID
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False  # breaks the connection
    raw: str = ""


@dataclass(frozen=True)
class Kept:
    """The newest version of a secret, and how many there are."""

    name: str
    value: str
    tags: Mapping[str, str]
    enabled: bool = True
    exp: int | None = None
    nbf: int | None = None
    versions: int = 1


class FakeKeyVault:
    """`page` is how many secrets a list shows at once; `recovery` how many GETs a recovered secret stays away for.

    Its challenge requests a token of `tenant` for `audience`; `link` is the host that a list goes on at, its own where
    none is given. Without `inner_codes` a refusal does not name its reason, as other servers of this protocol.
    """

    def __init__(
        self,
        tls: ssl.SSLContext,
        *,
        audience: str = "https://vault.azure.net",
        tenant: str = "tenant-id",
        page: int = 2,
        recovery: int = 0,
        link: str = "",
        inner_codes: bool = True,
    ) -> None:
        self.url = ""
        self.requests: list[Requested] = []
        self._tls, self._audience, self._tenant = tls, audience, tenant
        self._page, self._recovery, self._link = page, recovery, link
        self._inner_codes = inner_codes
        self._secrets: dict[str, Kept] = {}
        self._deleted: dict[str, Kept] = {}
        self._away: dict[str, int] = {}
        self._faults: defaultdict[tuple[str, str], deque[Fault]] = defaultdict(deque)

    async def __aenter__(self) -> Self:
        self._listener = Listener(self._answer, grace=0.1)
        self.url = await self._listener.open(tls=self._tls)
        # The library keeps challenges by host and port for the whole process, and an earlier vault may have had this
        # port.
        http_challenge_cache.remove_challenge_for_url(self.url)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listener.close()

    def make(self, name: str, value: str, tags: Mapping[str, str] | None = None, **attributes: Any) -> None:
        """Put a secret there, as a person would; `enabled`, `exp` and `nbf` are its attributes."""
        self._secrets[name.casefold()] = Kept(name, value, tags or {}, **attributes)

    def delete(self, name: str) -> None:
        self._deleted[name.casefold()] = self._secrets.pop(name.casefold())

    def fail(self, method: str, path: str, *faults: Fault) -> None:
        """Answer the next requests so, one after the other."""
        self._faults[method, path.casefold()].extend(faults)

    def forgive(self) -> None:
        """Answer as one should from now on."""
        self._faults.clear()

    @property
    def values(self) -> dict[str, str]:
        return {kept.name: kept.value for kept in self._secrets.values()}

    @property
    def deleted(self) -> list[str]:
        return sorted(kept.name for kept in self._deleted.values())

    def kept(self, name: str) -> Kept:
        return self._secrets[name.casefold()]

    def lines(self, *methods: str) -> list[str]:
        """What was requested with a token, by method and path; of some methods only where any are named."""
        lines = [requested.line for requested in self.requests if requested.is_signed]
        return [line for line in lines if not methods or line.split()[0] in methods]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        body = json.loads(raw) if raw else None
        self.requests.append(Requested(f"{request.method} {request.path}", token, body))
        if not token:
            return self._challenge()
        faults = self._faults.get((request.method, request.path.casefold()))
        if faults:
            return self._fault(request, faults.popleft())
        _, collection, *rest = request.path.rstrip("/").split("/")
        name = rest[0].casefold() if rest else ""
        handlers = {
            ("GET", "secrets", 0): self._list,
            ("GET", "secrets", 1): self._get,
            ("PUT", "secrets", 1): self._put,
            ("DELETE", "secrets", 1): self._delete,
            ("GET", "deletedsecrets", 1): self._get_deleted,
            ("POST", "deletedsecrets", 2): self._recover,
        }
        return handlers[request.method, collection, len(rest)](request, name, body)

    def _challenge(self) -> web.Response:
        wants = f'Bearer authorization="https://login.microsoftonline.com/{self._tenant}", resource="{self._audience}"'
        return refusal(401, "Unauthorized", "AKV10000: Request is missing a Bearer or PoP token.", challenge=wants)

    def _fault(self, request: web.Request, fault: Fault) -> web.Response:
        if fault.drop and request.transport:
            request.transport.close()
        if fault.raw:
            return web.Response(status=fault.status, text=fault.raw, headers=fault.headers)
        return refusal(fault.status, fault.code, fault.message, headers=fault.headers)

    def _list(self, request: web.Request, _name: str, _body: Any) -> web.Response:
        query = parse_qs(request.query_string)
        start = int(query.get("$skiptoken", ["at:0"])[0].partition(":")[2])
        size = min(self._page, int(query.get("maxresults", [self._page])[0]))
        names = sorted(self._secrets)
        shown = [self._shown(self._secrets[name], with_value=False) for name in names[start : start + size]]
        more = f"{self._link or self.url}/secrets?api-version=7.6&$skiptoken={quote(f'at:{start + size}')}"
        return web.json_response({"value": shown, "nextLink": more if start + size < len(names) else None})

    def _get(self, _request: web.Request, name: str, _body: Any) -> web.Response:
        if self._away.get(name, 0):
            self._away[name] -= 1
            return missing(name)
        if name not in self._secrets:
            return missing(name)
        kept = self._secrets[name]
        if not kept.enabled:
            code = "SecretDisabled" if self._inner_codes else ""
            return refusal(403, code, "Operation get is not allowed on a disabled secret.")
        return web.json_response(self._shown(kept))

    def _put(self, request: web.Request, name: str, body: Any) -> web.Response:
        if name in self._deleted:
            message = f"Secret {name} is currently in a deleted but recoverable state, and its name cannot be reused."
            return refusal(409, "ObjectIsDeletedButRecoverable" if self._inner_codes else "", message)
        if self._away.get(name, 0):
            return refusal(409, "ObjectIsBeingRecovered", f"Secret {name} is currently being recovered.")
        spelled = request.path.rstrip("/").split("/")[2]
        before = self._secrets.get(name, Kept(spelled, "", {}, versions=0))
        enabled = body.get("attributes", {}).get("enabled", True)
        self._secrets[name] = Kept(
            before.name, body["value"], body.get("tags") or {}, enabled=enabled, versions=before.versions + 1
        )
        return web.json_response(self._shown(self._secrets[name]))

    def _delete(self, _request: web.Request, name: str, _body: Any) -> web.Response:
        if name not in self._secrets:
            return missing(name)
        self._deleted[name] = self._secrets.pop(name)
        return web.json_response(self._shown(self._deleted[name], with_value=False))

    def _get_deleted(self, _request: web.Request, name: str, _body: Any) -> web.Response:
        if name not in self._deleted:
            return missing(name)
        return web.json_response(self._shown(self._deleted[name], with_value=False))

    def _recover(self, _request: web.Request, name: str, _body: Any) -> web.Response:
        if name not in self._deleted:
            return missing(name)
        self._secrets[name] = replace(self._deleted.pop(name))
        self._away[name] = self._recovery
        return web.json_response(self._shown(self._secrets[name], with_value=False))

    def _shown(self, kept: Kept, *, with_value: bool = True) -> dict[str, Any]:
        times = {name: at for name, at in (("exp", kept.exp), ("nbf", kept.nbf)) if at is not None}
        version = f"/{kept.versions:032x}" if with_value else ""
        return {
            "id": f"{self.url}/secrets/{kept.name}{version}",
            "attributes": {"enabled": kept.enabled, "created": int(time.time()), **times},
            **({"tags": dict(kept.tags)} if kept.tags else {}),
            **({"value": kept.value} if with_value else {}),
        }


def missing(name: str) -> web.Response:
    return refusal(404, "SecretNotFound", f"A secret with (name/id) {name} was not found in this key vault.")


def refusal(
    status: int, code: str, message: str, *, challenge: str = "", headers: Mapping[str, str] | None = None
) -> web.Response:
    outer = {403: "Forbidden", 409: "Conflict"}.get(status)
    error = (
        {"code": outer, "message": message, **({"innererror": {"code": code}} if code else {})}
        if outer
        else {"code": code, "message": message}
    )
    sent = {**(headers or {}), **({"WWW-Authenticate": challenge} if challenge else {})}
    return web.json_response({"error": error}, status=status, headers=sent)
