"""Tokens: an endpoint that issues them to known principals, and the check of the tokens in requests.

They are signed with a key of this emulator, so another emulator rejects them.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from gitsync.emulator.graph.graph_rights import ALL
from gitsync.emulator.graph.graph_settings import GraphSettings
from gitsync.emulator.http.messages import (
    Caller,
    Refused,
    ServerRequest,
    ServerResponse,
    make_refusal,
    refuse,
)
from gitsync.emulator.identity.federation import find_mismatch, list_credentials
from gitsync.emulator.patch import find_value
from gitsync.emulator.settings import ANONYMOUS, EmulatedPrincipal, EmulatorSettings
from gitsync.emulator.state.store import Store
from gitsync.model.clock import Clock

_TOKEN = re.compile(r"/[^/]+/oauth2/v2\.0/token")
_DISCOVERY = re.compile(r"/[^/]+/(v2\.0/)?\.well-known/openid-configuration")
_AUDIENCES = ("https://management.azure.com", "https://management.core.windows.net")
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MOST_READ = 100
"""Number of checked tokens that are cached; a few principals use a few at a time."""
_MFA = "p1"
_MFA_CLAIMS = {"access_token": {"acrs": {"essential": True, "values": [_MFA]}}}
"""Claims that Azure requires before a person writes (Azure/azure-cli#31778)."""

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


class Tokens:
    """Issues and reads tokens. The key is in the store, so that processes that share it accept each other's."""

    def __init__(self, settings: EmulatorSettings, store: Store, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._clock = clock
        self._principals = {principal.client.casefold(): principal for principal in settings.principals}
        self._checked_tokens: dict[str, Mapping[str, Any]] = {}
        # In one transaction, or two processes that start together would each sign with a key of their own.
        with store.transaction():
            if store.note("token-key") is None:
                store.put_note("token-key", base64.b64encode(os.urandom(32)).decode())
            self._key = base64.b64decode(store.note("token-key"))

    def answer(self, path: str, form: Mapping[str, str], base: str) -> ServerResponse | None:
        """Answer the identity platform's own paths; None for any other path."""
        tenant = path.split("/")[1]
        if _DISCOVERY.fullmatch(path):
            return ServerResponse(200, _make_discovery(tenant, base))
        return self._issue(tenant, form) if _TOKEN.fullmatch(path) else None

    def _issue(self, tenant: str, form: Mapping[str, str]) -> ServerResponse:
        client = form.get("client_id", "")
        principal = self._principals.get(client.casefold())
        if form.get("grant_type") != "client_credentials":
            return self._make_error(
                400, "unsupported_grant_type", 70003, "The app requested an unsupported grant type."
            )
        if principal is None or principal.tenant.casefold() not in {"", tenant.casefold()}:
            text = f"Application with identifier '{client}' was not found in the directory '{tenant}'."
            return self._make_error(400, "unauthorized_client", 700016, text)
        if "client_assertion" in form and (credentials := list_credentials(principal, self._store)) is not None:
            claims = _decode_claims(form["client_assertion"]) or {}
            if mismatch := find_mismatch(principal, credentials, claims, self._clock.now().timestamp()):
                return self._make_error(401, "invalid_client", *mismatch)
        elif not _has_valid_proof(principal, form):
            text = (
                "Invalid client secret provided. Ensure the secret being sent in the request is the client secret "
                f"value, not the client secret ID, for a secret added to app '{client}'."
            )
            return self._make_error(401, "invalid_client", 7000215, text)
        seconds = self._settings.token_seconds
        # Only one slash goes: the scope of an audience that ends with a slash has two before `.default`.
        audience = form.get("scope", "").split(" ")[0].removesuffix(".default").removesuffix("/")
        # The path may name a tenant by its domain, or none (`common`); a token has its id.
        own_tenant = tenant if _GUID.fullmatch(tenant) else ""
        token = self.token(
            principal, audience=audience, tenant=own_tenant, contexts=_read_contexts(form.get("claims", ""))
        )
        body = {"token_type": "Bearer", "expires_in": seconds, "ext_expires_in": seconds, "access_token": token}
        return ServerResponse(200, body, {"Cache-Control": "no-store"})

    def token(
        self,
        principal: EmulatedPrincipal,
        *,
        audience: str = _AUDIENCES[0],
        seconds: float | None = None,
        tenant: str = "",
        contexts: Sequence[str] = (),
    ) -> str:
        """Issue a token for a principal in a tenant ("": its own), valid for `seconds` from now. `contexts` are the
        authentication contexts that it proves.
        """
        now = self._clock.now().timestamp()
        tenant = tenant or principal.tenant or self._settings.tenant
        # Claims of some principals only.
        own: dict[str, Any] = {"upn": principal.user, "app_displayname": principal.app, "xms_mirid": principal.identity}
        own |= {"acrs": [*contexts]} if contexts else {}
        own |= _list_graph_claims(principal, self._settings.graph)
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
            **{name: value for name, value in own.items() if value},
        }
        signing_input = f"{_encode({'typ': 'JWT', 'alg': 'HS256'})}.{_encode(claims)}"
        return f"{signing_input}.{self._sign(signing_input)}"

    def identify_caller(self, authorization: str, base: str) -> Caller:
        """Identify the caller of a request; Refused if a token is required and missing or invalid."""
        # Without a check a token still identifies the caller, if there is one.
        if not self._settings.require_token:
            claims = _decode_claims(authorization.partition(" ")[2]) or {}
            return _make_caller(claims, None if claims else self._principals.get(ANONYMOUS))
        try:
            claims = self._check_token(authorization, base)
        except Refused as refused:
            text = refused.answer.body["error"]["message"].replace('"', "'")
            uri = f"{base}/{self._settings.tenant}"
            challenge = f'Bearer authorization_uri="{uri}", error="invalid_token", error_description="{text}"'
            raise Refused(refused.answer.add_headers({"WWW-Authenticate": challenge})) from refused
        return _make_caller(claims, self._principals.get(str(claims.get("appid")).casefold()))

    def _check_token(self, authorization: str, base: str) -> Mapping[str, Any]:
        scheme, _, token = authorization.partition(" ")
        if scheme.casefold() != "bearer" or not token:
            raise refuse("AuthenticationFailed")
        claims = self._checked_tokens.get(token)
        if claims is None:
            signing_input, _, signature = token.rpartition(".")
            claims = _decode_claims(token)
            if claims is None or not hmac.compare_digest(signature, self._sign(signing_input)):
                raise refuse("InvalidAuthenticationToken")
            # Emptied at once: a rule of age would cost more than checking a few tokens again.
            if len(self._checked_tokens) >= _MOST_READ:
                self._checked_tokens.clear()
            self._checked_tokens[token] = claims
        # Also for a cached token, which may have expired since.
        self._check_claims(claims, base)
        return claims

    def _check_claims(self, claims: Mapping[str, Any], base: str) -> None:
        now = self._clock.now()
        if claims["exp"] <= now.timestamp():
            expiry = datetime.fromtimestamp(claims["exp"], UTC)
            raise refuse("ExpiredAuthenticationToken", expiry=_format_us_time(expiry), now=_format_us_time(now))
        allowed = (*_AUDIENCES, base)  # an emulator is its own audience
        if str(claims["aud"]).rstrip("/") not in allowed:
            names = ",".join(f"'{name}'" for name in allowed)
            raise refuse("InvalidAuthenticationTokenAudience", audience=claims["aud"], allowed=names)

    def _sign(self, signing_input: str) -> str:
        return _encode_base64url(hmac.new(self._key, signing_input.encode(), hashlib.sha256).digest())

    def _make_error(self, status: int, error: str, number: int, text: str) -> ServerResponse:
        now = self._clock.now().strftime("%Y-%m-%d %H:%M:%SZ")
        trace, correlation = str(uuid4()), str(uuid4())
        description = f"AADSTS{number}: {text} Trace ID: {trace} Correlation ID: {correlation} Timestamp: {now}"
        body = {"error": error, "error_description": description, "error_codes": [number], "timestamp": now}
        return ServerResponse(status, body | {"trace_id": trace, "correlation_id": correlation})


def _has_valid_proof(principal: EmulatedPrincipal, form: Mapping[str, str]) -> bool:
    """Return whether a request has the principal's secret, or an assertion: any text with the form of a JWT."""
    if "client_assertion" in form:
        return form.get("client_assertion_type") == _ASSERTION and form["client_assertion"].count(".") == 2
    client_secret = form.get("client_secret", "")
    # An empty secret must not match a principal without one; and of texts, `compare_digest` takes only ASCII.
    return bool(principal.secret) and hmac.compare_digest(client_secret.encode(), principal.secret.encode())


def _make_caller(claims: Mapping[str, Any], principal: EmulatedPrincipal | None) -> Caller:
    caller = Caller(
        client=str(claims.get("appid") or claims.get("azp") or ""),
        object=str(claims.get("oid") or ""),
        tenant=str(claims.get("tid") or ""),
        user=str(claims.get("upn") or (principal.user if principal else "")),
        app=str(claims.get("app_displayname") or (principal.app if principal else "")),
        identity=str(claims.get("xms_mirid") or (principal.identity if principal else "")),
    )
    if principal is None:
        return caller
    return replace(
        caller,
        actions=("*/read",) if principal.read_only else principal.actions,
        scopes=principal.scopes,
        lacks_mfa=principal.needs_mfa and _MFA not in (claims.get("acrs") or ()),
    )


def require_mfa(request: ServerRequest) -> None:
    """Refuse the write of a caller who needs multifactor authentication, with a challenge for its claims."""
    if not request.caller.lacks_mfa or request.verb == "read":
        return
    message = f"Resource '{request.target.name}' was disallowed by Azure: Users must use MFA for Create operation."
    claims = base64.b64encode(json.dumps(_MFA_CLAIMS, separators=(",", ":")).encode()).decode()
    uri = f"{request.base}/common/oauth2/authorize"
    challenge = f'Bearer realm="", authorization_uri="{uri}", error="insufficient_claims", claims="{claims}"'
    answer = make_refusal("RequestDisallowedByAzure", status=401, message=message)
    raise Refused(answer.add_headers({"WWW-Authenticate": challenge}))


def _read_contexts(claims: str) -> Sequence[str]:
    """Read the authentication contexts in the claims of a token request; none if the claims are malformed."""
    try:
        wanted = find_value(json.loads(claims or "{}"), ("access_token", "acrs"))
    except ValueError:
        return ()
    values = find_value(wanted, ("values",)) or [find_value(wanted, ("value",))]
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else ()


def _list_graph_claims(principal: EmulatedPrincipal, settings: GraphSettings) -> dict[str, Any]:
    """List the permissions of Microsoft Graph as a token has them: a person's in `scp`, an application's in `roles`."""
    names = sorted(ALL if settings.permissions is None else settings.permissions)
    if not names:
        return {}
    return {"scp": " ".join(names)} if principal.user else {"roles": names}


def _make_discovery(tenant: str, base: str) -> dict[str, Any]:
    return {
        "token_endpoint": f"{base}/{tenant}/oauth2/v2.0/token",
        "authorization_endpoint": f"{base}/{tenant}/oauth2/v2.0/authorize",
        "issuer": f"{base}/{tenant}/v2.0",
        "response_types_supported": ["code"],
        "subject_types_supported": ["pairwise"],
        "id_token_signing_alg_values_supported": ["RS256"],
    }


def _encode(value: Mapping[str, Any]) -> str:
    return _encode_base64url(json.dumps(value, separators=(",", ":")).encode())


def _encode_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode_claims(token: str) -> Mapping[str, Any] | None:
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return None
    return claims if isinstance(claims, dict) else None


def _format_us_time(moment: datetime) -> str:
    """Format a time as .NET does for en-US: 8/17/2017 10:54:41 PM."""
    clock = moment.strftime("%I:%M:%S %p").lstrip("0")
    return f"{moment.month}/{moment.day}/{moment.year} {clock}"
