"""Reads and writes Secrets and ConfigMaps through the API server: the only module that imports lightkube.

Each request is sent once, and only to the API server: no proxy of the environment, no redirect. lightkube reads the
token again when it is refused.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import msgspec
from lightkube import AsyncClient, KubeConfig
from lightkube.config.models import Cluster, User
from lightkube.core.exceptions import ConfigError as AccountError
from lightkube.models.authorization_v1 import ResourceAttributes, SelfSubjectAccessReviewSpec
from lightkube.models.meta_v1 import DeleteOptions, ObjectMeta, Preconditions
from lightkube.resources.authorization_v1 import SelfSubjectAccessReview
from lightkube.resources.core_v1 import ConfigMap, Secret

from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import ConfigError, SecretStoreError, StoreNotFoundError, TransientStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret as Value
from gitsync.repository.secrets.kubernetes.account import EMPTY_TOKEN, ServiceAccount
from gitsync.repository.secrets.kubernetes.cluster_failures import ApiCall, is_starting, make_failure, make_unreachable
from gitsync.repository.secrets.kubernetes.cluster_rights import Right
from gitsync.repository.secrets.kubernetes.stored_object import StoredObject
from gitsync.repository.secrets.remote_requests import limit_request_time

_SECONDS = 30.0
_UNREADABLE = (KeyError, msgspec.MsgspecError, ValueError, RecursionError)
"""The errors of lightkube for an answer that is not that of an API server; KeyError: it has no content type."""


@asynccontextmanager
async def open_requests(account: ServiceAccount) -> AsyncIterator[KubernetesRequests]:
    """Raises ConfigError for certificates that cannot be read."""
    config = KubeConfig.from_one(
        cluster=Cluster(server=account.server, certificate_auth=str(account.certificates)),
        user=User(token_file=str(account.token)),
        namespace=account.namespace,
    )
    try:
        # The variables of the environment name proxies for Azure; the API server is reached without.
        client = Client(config, timeout=httpx2.Timeout(_SECONDS), field_manager="gitsync", trust_env=False)
    except OSError as error:  # an SSLError is one too
        raise ConfigError(
            f"The certificates of the cluster cannot be read: {error}.", hint=f"See {account.certificates}."
        ) from error
    async with client:
        yield KubernetesRequests(client, account)


class Client(AsyncClient):
    """lightkube's client, with a request that it lacks: delete an object only at the version that was read."""

    async def delete_at_version(self, kind: Any, name: str, namespace: str, version: str) -> None:
        sender: Any = self._client  # of which half is typed
        request = sender.prepare_request("delete", kind, name=name, namespace=namespace)
        request.data = DeleteOptions(preconditions=Preconditions(resourceVersion=version))
        answer = await sender.send(sender.build_adapter_request(request))
        sender.handle_response("delete", answer, request)


class KubernetesRequests:
    """The requests, sent once each; SecretStoreError for anything but an answer, TransientStoreError if it may pass."""

    def __init__(self, client: Client, account: ServiceAccount) -> None:
        self._client = client
        self._account = account
        self._was_away = False  # and has not served a request since

    async def may(self, right: Right, name: str = "") -> bool:
        """Return whether the service account has a right, as the server reviews it; on one object if given a name."""
        attributes = ResourceAttributes(
            verb=right.verb, group="", version="v1", resource=right.resource, namespace=right.namespace, name=name
        )
        review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resourceAttributes=attributes))
        api_call = ApiCall(
            verb="create",
            address=Address(ObjectKind.SECRET, right.namespace, name),
            words=f"review whether the service account may {right}",
        )
        # Read before the request, since each answer resets it.
        was_away = self._was_away
        answer = await self._answer(self._client.create(review), api_call)
        is_allowed = bool(answer.status and answer.status.allowed)
        if was_away and not is_allowed:  # it may not have read all roles yet
            self._was_away = True
            message = f"The API server was unavailable, and does not allow the service account to {right} yet."
            raise TransientStoreError(message, hint="Run again later.")
        return is_allowed

    async def get(self, address: Address) -> StoredObject | None:
        """Return the object; None if it does not exist."""
        api_call = ApiCall(verb="get", address=address)
        try:
            answer = await self._answer(
                self._client.get(_KINDS[address.object_kind], address.name, namespace=address.namespace), api_call
            )
        except StoreNotFoundError:
            return None
        try:
            return _read_object(answer, address)
        except ValueError as error:
            raise SecretStoreError(f"The data of {address} is not base64.", hint="Check what wrote it.") from error

    async def create(self, stored: StoredObject, *, is_rehearsal: bool = False) -> None:
        """Create an object. A rehearsal is what Kubernetes calls a dry run on the server: nothing is stored."""
        await self._write("create", stored, is_rehearsal=is_rehearsal)

    async def replace(self, stored: StoredObject, *, is_rehearsal: bool = False) -> None:
        """Replace the object whose version it carries."""
        await self._write("update", stored, is_rehearsal=is_rehearsal)

    async def delete(self, stored: StoredObject) -> None:
        """Delete an object if it still has the version that it carries. Ignores one that is gone already."""
        kind, address = _KINDS[stored.address.object_kind], stored.address
        call = self._client.delete_at_version(kind, address.name, address.namespace, stored.version)
        with suppress(StoreNotFoundError):  # someone else was first, and the aim is reached
            await self._answer(call, ApiCall(verb="delete", address=address))

    async def _write(self, verb: str, stored: StoredObject, *, is_rehearsal: bool) -> None:
        body: Any = _make_body(stored)
        # Neither a value as it is nor as it is sent may show in an error.
        plain = [value.decode() for value in stored.data.values()]
        encoded = [base64.b64encode(text.encode()).decode() for text in plain]
        secrets = tuple(Value(text) for text in (*plain, *encoded))
        api_call = ApiCall(verb=verb, address=stored.address, secrets=secrets)
        send = self._client.create if verb == "create" else self._client.replace
        await self._answer(send(body, dry_run=is_rehearsal), api_call)

    async def _answer(self, call: Any, api_call: ApiCall) -> Any:
        """Return the answer of lightkube, and raise its errors as ours."""
        try:
            async with limit_request_time(f"The API server did not respond to the request to {api_call}"):
                answer = await call
        except httpx2.HTTPStatusError as error:
            raise self._make_failure(error.response, api_call) from None  # lightkube's error holds the answer
        except httpx2.TransportError as error:
            self._check_token()  # without one, nothing is sent
            self._was_away = True
            raise make_unreachable(api_call, error) from error
        except AccountError as error:
            raise SecretStoreError(
                f"The token of the service account is missing: {error}.", hint="Run again."
            ) from error
        except _UNREADABLE as error:
            raise SecretStoreError(
                f"The response to the request to {api_call} is not that of an API server ({type(error).__name__}).",
                hint="Check KUBERNETES_SERVICE_HOST and _PORT.",
            ) from None
        self._was_away = False
        return answer

    def _make_failure(self, response: httpx2.Response, api_call: ApiCall) -> SecretStoreError:
        """Make the error for a refusal."""
        status, body = response.status_code, _parse_json(response.content)
        if status == 401:  # an empty file gives a clearer message than a refused token
            self._check_token()
        # The refusal of a server that has just started may pass: it has not read all roles yet.
        may_pass = status == 403 and (self._was_away or is_starting(body))
        self._was_away = self._was_away and (may_pass or status >= 500)
        return make_failure(api_call, status, response.headers, body, may_pass=may_pass)

    def _check_token(self) -> None:
        """Raise SecretStoreError if the file of the token is empty by now."""
        token = self._account.token
        if token.is_file() and not token.read_bytes().strip():
            raise SecretStoreError(f"The token of the service account is empty: {token}.", hint=EMPTY_TOKEN)


_KINDS: Mapping[ObjectKind, Any] = {ObjectKind.SECRET: Secret, ObjectKind.CONFIG_MAP: ConfigMap}


def _read_object(answer: Any, address: Address) -> StoredObject:
    metadata, data = answer.metadata or ObjectMeta(), answer.data or {}
    is_secret = address.object_kind is ObjectKind.SECRET
    return StoredObject(
        address=address,
        data={key: base64.b64decode(text) if is_secret else text.encode() for key, text in data.items()},
        annotations=metadata.annotations or {},
        labels=metadata.labels or {},
        version=metadata.resourceVersion or "",
        is_immutable=bool(answer.immutable),
        kind=answer.type or "" if is_secret else "",
        owners=tuple(reference.apiVersion for reference in metadata.ownerReferences or ()),
        has_binary_data=bool(not is_secret and answer.binaryData),
        finalizers=tuple(metadata.finalizers or ()),
    )


def _make_body(stored: StoredObject) -> Any:
    metadata = ObjectMeta(
        name=stored.address.name,
        namespace=stored.address.namespace,
        annotations=dict(stored.annotations),
        labels=dict(stored.labels),
        resourceVersion=stored.version or None,
        finalizers=list(stored.finalizers) or None,
    )
    if stored.address.object_kind is ObjectKind.CONFIG_MAP:
        return ConfigMap(metadata=metadata, data={key: value.decode() for key, value in stored.data.items()})
    data = {key: base64.b64encode(value).decode() for key, value in stored.data.items()}
    return Secret(metadata=metadata, data=data, type=stored.kind or "Opaque")


def _parse_json(content: bytes) -> Any:
    try:
        return read_json(content)
    except ValueError:
        return None
