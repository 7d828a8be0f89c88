"""The policy tokens that were issued, each for one write with its body and for the policies that allowed it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

from gitsync.emulator.governance.policies import EmulatedPolicy
from gitsync.emulator.http.messages import ServerRequest
from gitsync.emulator.http.target import parse
from gitsync.emulator.state.cloud import EmulatedCloud

HEADER: Final = "x-ms-policy-external-evaluations"
ENDPOINT_KIND: Final = "AzureResourceGraph"


def list_without_token(
    cloud: EmulatedCloud, request: ServerRequest, denying: Iterable[EmulatedPolicy]
) -> list[EmulatedPolicy]:
    """List the policies that deny a write: all but those that its token satisfies."""
    satisfied = _read_satisfied(cloud, request)
    return [policy for policy in denying if policy.external is None or policy.id not in satisfied]


def _read_satisfied(cloud: EmulatedCloud, request: ServerRequest) -> frozenset[str]:
    """Read which policies the token of a write satisfies. As in Azure, a token that is not valid counts as none."""
    token = request.headers.get(HEADER, "")
    issued = cloud.store.note(_name_note(token)) if token else None
    if not issued or issued["write"] != _digest(request) or cloud.clock.now().timestamp() >= issued["expires"]:
        return frozenset()
    return frozenset(issued["policies"])


def issue_token(cloud: EmulatedCloud, write: ServerRequest, policies: Iterable[EmulatedPolicy], expires: float) -> str:
    """Issue a token for a write that these policies allow, valid until a time in seconds since 1970."""
    token = f"PoP {uuid4().hex}{uuid4().hex}"
    issued = {"write": _digest(write), "policies": [policy.id for policy in policies], "expires": expires}
    cloud.store.put_note(_name_note(token), issued)
    return token


def make_write(request: ServerRequest, operation: Mapping[str, Any]) -> ServerRequest:
    """Make the write that an `operation` describes: `{uri, httpMethod, content}`."""
    parts = urlsplit(str(operation["uri"]))
    return ServerRequest(
        method=str(operation["httpMethod"]).upper(),
        target=parse(unquote(parts.path)),
        api_version=request.api_version,
        base=f"{parts.scheme}://{parts.netloc}",
        query=dict(parse_qsl(parts.query)),
        body=operation.get("content"),
        caller=request.caller,
    )


def describe_missing_token(policy: EmulatedPolicy) -> dict[str, Any]:
    """Describe what a policy misses, as the refusal of a write does."""
    if policy.external is None:
        return {}
    details = {
        "shouldDeny": True,
        "isChangeReferenceRequired": policy.external.change_reference,
        "endpointKind": ENDPOINT_KIND,
        "endpointResultLifespan": f"PT{policy.external.token_seconds}S",
    }
    return {"missingPolicyTokenDetails": details}


def _digest(write: ServerRequest) -> str:
    """Digest a write: its method, its URL, and its body with the order of the members."""
    # Members are not sorted here: Azure compares the content that was evaluated with the one that is sent.
    parts = [write.method, write.base.casefold(), write.target.key, sorted(write.query.items()), write.body]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _name_note(token: str) -> str:
    # A digest, so that the state file holds no token that could be used.
    return f"policy token {hashlib.sha256(token.encode()).hexdigest()}"
