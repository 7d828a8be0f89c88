"""Tokens: an endpoint that issues them to known principals, and the check of those that come with requests.

They are signed with a key of this emulator only; so another emulator rejects them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from gitsync.emulator.http.answers import Refused, ServerResponse, refuse
from gitsync.emulator.http.call import Caller
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from gitsync.emulator.state.store import Store
from gitsync.model.clock import Clock

_TOKEN = re.compile(r"/[^/]+/oauth2/v2\.0/token")
_DISCOVERY = re.compile(r"/[^/]+/(v2\.0/)?\.well-known/openid-configuration")
_AUDIENCES = ("https://management.azure.com", "https://management.core.windows.net")
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_READ = 100
"""Tokens are checked once and remembered; a few principals use a few at a time."""
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Tokens:
    """Issues and reads tokens. The key is in the store, so that processes that share it take each other's."""

    def __init__(self, settings: EmulatorSettings, store: Store, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._principals = {principal.client.casefold(): principal for principal in settings.principals}
        self._read: dict[str, Mapping[str, Any]] = {}
        with store.transaction():
            if store.note("token-key") is None:
                store.put_note("token-key", base64.b64encode(os.urandom(32)).decode())
            self._key = base64.b64decode(store.note("token-key"))

    def answer(self, path: str, form: Mapping[str, str], base: str) -> ServerResponse | None:
        """The answer of the identity platform's own paths; None for any other path."""
        tenant = path.split("/")[1]
        if _DISCOVERY.fullmatch(path):
            return ServerResponse(200, _discovery(tenant, base))
        return self._issue(tenant, form) if _TOKEN.fullmatch(path) else None

    def _issue(self, tenant: str, form: Mapping[str, str]) -> ServerResponse:
        client = form.get("client_id", "")
        principal = self._principals.get(client.casefold())
        if form.get("grant_type") != "client_credentials":
            return self._no(400, "unsupported_grant_type", 70003, "The app requested an unsupported grant type.")
        if principal is None or not _is_known_in(principal, tenant):
            text = f"Application with identifier '{client}' was not found in the directory '{tenant}'."
            return self._no(400, "unauthorized_client", 700016, text)
        if not _proves(principal, form):
            text = (
                "Invalid client secret provided. Ensure the secret being sent in the request is the client secret "
                f"value, not the client secret ID, for a secret added to app '{client}'."
            )
            return self._no(401, "invalid_client", 7000215, text)
        seconds = self._settings.token_seconds
        audience = form.get("scope", "").split(" ")[0].removesuffix(".default").removesuffix("/")
        token = self.token(principal, audience=audience, tenant=tenant if _GUID.fullmatch(tenant) else "")
        body = {"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": seconds, "access_token": token}
        return ServerResponse(200, body, {"Cache-Control": "no-store"})

    def token(
        self,
        principal: EmulatedPrincipal,
        *,
        audience: str = _AUDIENCES[0],
        seconds: float | None = None,
        tenant: str = "",
    ) -> str:
        """A token for a principal in a tenant ("": its own), valid for some seconds from now."""
        now = self._clock.now().timestamp()
        tenant = tenant or principal.tenant or self._settings.tenant
        claims = {
            "aud": audience,
            "iss": f"https://sts.windows.net/{tenant}/",
            "tid": tenant,
            "appid": principal.client,
            "oid": principal.object,
            "sub": principal.object,
            "iat": int(now),
            "nbf": int(now),
            "exp": int(now + (self._settings.token_seconds if seconds is None else seconds)),
            "ver": "1.0",
        }
        head = f"{_pack({'typ': 'JWT', 'alg': 'HS256'})}.{_pack(claims)}"
        return f"{head}.{self._sign(head)}"

    def caller(self, authorization: str, base: str) -> Caller:
        """The sender of a request; Refused if a token is required and missing or invalid."""
        if not self._settings.require_token:
            return _caller(_unpack(authorization.partition(" ")[2]) or {}, read_only=False)
        try:
            claims = self._checked(authorization, base)
        except Refused as no:
            text = no.answer.body["error"]["message"].replace('"', "'")
            uri = f"{base}/{self._settings.tenant}"
            challenge = f'Bearer authorization_uri="{uri}", error="invalid_token", error_description="{text}"'
            raise Refused(no.answer.but({"WWW-Authenticate": challenge})) from no
        principal = self._principals.get(str(claims.get("appid")).casefold())
        return _caller(claims, read_only=principal is not None and principal.read_only)

    def _checked(self, authorization: str, base: str) -> Mapping[str, Any]:
        scheme, _, token = authorization.partition(" ")
        if scheme.casefold() != "bearer" or not token:
            raise refuse("AuthenticationFailed")
        claims = self._read.get(token)
        if claims is None:
            head, _, signature = token.rpartition(".")
            claims = _unpack(token)
            if claims is None or not hmac.compare_digest(signature, self._sign(head)):
                raise refuse("InvalidAuthenticationToken")
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            self._read[token] = claims
        self._check_claims(claims, base)
        return claims

    def _check_claims(self, claims: Mapping[str, Any], base: str) -> None:
        now = self._clock.now()
        if claims["exp"] <= now.timestamp():
            expiry = datetime.fromtimestamp(claims["exp"], UTC)
            raise refuse("ExpiredAuthenticationToken", expiry=_us(expiry), now=_us(now))
        allowed = (*_AUDIENCES, base)
        if str(claims["aud"]).rstrip("/") not in allowed:
            names = ",".join(f"'{name}'" for name in allowed)
            raise refuse("InvalidAuthenticationTokenAudience", audience=claims["aud"], allowed=names)

    def _sign(self, head: str) -> str:
        return _text(hmac.new(self._key, head.encode(), hashlib.sha256).digest())

    def _no(self, status: int, error: str, number: int, text: str) -> ServerResponse:
        now = self._clock.now().strftime("%Y-%m-%d %H:%M:%SZ")
        trace, correlation = str(uuid4()), str(uuid4())
        description = f"AADSTS{number}: {text} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {now}"
        body = {"error": error, "error_description": description, "error_codes": [number], "timestamp": now}
        return ServerResponse(status, body | {"trace_id": trace, "correlation_id": correlation})


def _is_known_in(principal: EmulatedPrincipal, tenant: str) -> bool:
    return not principal.tenant or principal.tenant.casefold() == tenant.casefold()


def _proves(principal: EmulatedPrincipal, form: Mapping[str, str]) -> bool:
    """By its secret, or by an assertion of somebody it trusts: any that has a JWT's form."""
    if "client_assertion" in form:
        return form.get("client_assertion_type") == _ASSERTION and form["client_assertion"].count(".") == 2
    given = form.get("client_secret", "")
    return bool(principal.secret) and hmac.compare_digest(given.encode(), principal.secret.encode())


def _caller(claims: Mapping[str, Any], *, read_only: bool) -> Caller:
    client = claims.get("appid") or claims.get("azp") or ""
    tenant = str(claims.get("tid") or "")
    return Caller(client=str(client), object=str(claims.get("oid") or ""), tenant=tenant, read_only=read_only)


def _discovery(tenant: str, base: str) -> dict[str, Any]:
    return {
        "token_endpoint": f"{base}/{tenant}/oauth2/v2.0/token",
        "authorization_endpoint": f"{base}/{tenant}/oauth2/v2.0/authorize",
        "issuer": f"{base}/{tenant}/v2.0",
        "response_types_supported": ["code"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def _pack(value: Mapping[str, Any]) -> str:
    return _text(json.dumps(value, separators=(",", ":")).encode())


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unpack(token: str) -> Mapping[str, Any] | None:
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return None
    return claims if isinstance(claims, dict) else None


def _us(moment: datetime) -> str:
    """A time as .NET writes it for Americans: 8/17/2017 10:54:41 PM."""
    clock = moment.strftime("%I:%M:%S %p").lstrip("0")
    return f"{moment.month}/{moment.day}/{moment.year} {clock}"
