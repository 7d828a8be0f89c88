"""The replacement of a secret in everything that is written: a keyed digest, `{"$secret": "hmac-sha256:…"}`.

A record must show whether a secret changed without letting anyone guess it, so the digest is an HMAC (RFC 2104) with a
key that only the runs have. It is bound to the resource and to the path in its body: equal secrets have unequal
digests, and none can be moved elsewhere. The digest names its key, so that a changed key is not taken for a changed
secret. Without a key it is empty, and whether the secret changed is unknown.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

from gitsync.desired.formats.json_pointer import ANY, JsonPath
from gitsync.model.gvk import Key
from gitsync.model.secret import MASKED, Placeholder, Secret

SEAL_MEMBER: Final = "$secret"
"""The one member of the object that replaces a secret."""

_SCHEME = "hmac-sha256"

SecretPath = tuple[str, ...]
"""The path of a secret, independent of the order of lists above it: an entry with a name is identified by that name.
Part of what is digested, so it must not depend on rules that change.
"""


@dataclass(frozen=True, slots=True)
class Digests:
    """Makes the digests of one run."""

    key: Secret | None = field(default=None, repr=False)  # None if the run has no digest key

    @property
    def key_name(self) -> str:
        """Identifies the key without revealing it; "" without a key."""
        # The message of a secret has at least two texts, so none can equal this one.
        return self._hmac(["the key itself"])[:8] if self.key else ""

    def of(self, resource: Key | str, secret_path: SecretPath, value: Secret) -> str:
        """Return the digest of one secret; "" without a key, and for a value that is not known."""
        # A digest of a placeholder would look like a changed secret in the next run.
        if self.key is None or isinstance(value, Placeholder):
            return ""
        return f"{_SCHEME}:{self.key_name}:{self._hmac([str(resource), *secret_path, value.reveal()])}"

    def fingerprint(self, resource: str, text: str) -> str:
        """Return a short digest that shows whether a long text of a resource changed, one for each resource of each
        run: so it is a keyed BLAKE2 (RFC 7693), which costs a tenth of an HMAC. Without a key, anyone who has the rest
        of the text can guess a short secret in it.
        """
        key = _shorten_key(self.key.reveal()) if self.key else b""
        return hashlib.blake2b(f"{resource}\n{text}".encode(), digest_size=8, key=key).hexdigest()

    def _hmac(self, message: list[str]) -> str:
        key = self.key.reveal() if self.key else ""
        # JSON separates the texts, so that two different lists never have the same message.
        return hmac.new(key.encode(), json.dumps(message).encode(), hashlib.sha256).hexdigest()


@lru_cache(maxsize=4)
def _shorten_key(key: str) -> bytes:
    """Return a key of the length that BLAKE2 takes."""
    return hashlib.sha256(key.encode()).digest()


def seal_body(
    body: Mapping[str, Any], resource: Key | str, digests: Digests, *, in_any_order: bool = False
) -> dict[str, Any]:
    """Return a body as a record may keep it: digests in place of secrets, bound to the key or the id of a resource.

    A member that a manifest itself calls `$secret` is written with one more `$`, so that nothing is taken for a digest.
    With `in_any_order`, the digest of a secret in a list is not bound to an index either, for a body that Azure orders.
    """

    def seal(secret_path: SecretPath, value: Secret) -> str:
        path = tuple(ANY if step.isdigit() else step for step in secret_path) if in_any_order else secret_path
        return digests.of(resource, path, value)

    sealed: dict[str, Any] = _seal_value(body, (), seal)
    return sealed


def mask_digests(body: Any) -> Any:
    """Return a sealed body with MASKED in place of every digest, for a comparison leaf by leaf."""
    if is_seal(body):
        return MASKED
    if isinstance(body, dict):
        return {unescape(key): mask_digests(value) for key, value in body.items()}
    return [mask_digests(entry) for entry in body] if isinstance(body, list) else body


def is_sealed(body: Any) -> bool:
    """Return whether a body on record may differ from the sent one: it has a digest, a mask, or an escaped member. Most
    have none, and need no second comparison.
    """
    if isinstance(body, dict):
        return any(key.startswith("$") or is_sealed(value) for key, value in body.items())
    return any(map(is_sealed, body)) if isinstance(body, list) else body == MASKED


def has_secrets(body: Mapping[str, Any]) -> bool:
    """Return whether a sealed body holds a digest."""
    return next(iterate_seals(body), None) is not None


def keep_digests(now: Mapping[str, Any], before: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a sealed body with the digests of the one before, for secrets that both have.

    For a resource that was read and not written: its digests remain those of the last write.
    """
    old = {secret_path: seal for secret_path, _, seal in iterate_seals(before or {}, masks=True)}
    return _restore_digests(now, (), old) if old else now


def _seal_value(value: Any, secret_path: SecretPath, seal: Callable[[SecretPath, Secret], str]) -> Any:
    if isinstance(value, Secret):
        return {SEAL_MEMBER: seal(secret_path, value)}
    if isinstance(value, dict):
        return {_escape(key): _seal_value(child, (*secret_path, key), seal) for key, child in value.items()}
    if isinstance(value, list):
        return [_seal_value(entry, (*secret_path, step), seal) for step, entry in _name_entries(value)]
    return value


def _restore_digests(value: Any, secret_path: SecretPath, old: Mapping[SecretPath, str]) -> Any:
    if is_seal(value):
        return {SEAL_MEMBER: old.get(secret_path, value[SEAL_MEMBER])}
    if isinstance(value, dict):
        return {key: _restore_digests(child, (*secret_path, unescape(key)), old) for key, child in value.items()}
    if isinstance(value, list):
        return [_restore_digests(entry, (*secret_path, step), old) for step, entry in _name_entries(value)]
    return value


def iterate_seals(
    value: Any, secret_path: SecretPath = (), path: JsonPath = (), *, masks: bool = False
) -> Iterator[tuple[SecretPath, JsonPath, str]]:
    """Iterate over every digest of a sealed body: its stable path, its path, and itself.

    `masks`: MASKED is an empty digest, as the first release wrote it.
    """
    if is_seal(value):
        yield secret_path, path, value[SEAL_MEMBER]
    elif masks and value == MASKED:
        yield secret_path, path, ""
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from iterate_seals(child, (*secret_path, unescape(key)), (*path, unescape(key)), masks=masks)
    elif isinstance(value, list):
        for index, (step, entry) in enumerate(_name_entries(value)):
            yield from iterate_seals(entry, (*secret_path, step), (*path, index), masks=masks)


def _name_entries(entries: list[Any]) -> Iterator[tuple[str, Any]]:
    """Iterate over the entries of a list, each with its name, if all have different names, or else with its index."""
    # Azure returns some lists in another order, and a digest must stay that of its entry.
    names = [entry.get("name") if isinstance(entry, Mapping) else None for entry in entries]
    texts = [f"name={name.casefold()}" for name in names if isinstance(name, str) and name]
    have_names = len(texts) == len(entries) == len(set(texts))
    yield from zip(texts if have_names else map(str, range(len(entries))), entries, strict=True)


def is_seal(value: Any) -> bool:
    """Return whether a value of a sealed body stands for a secret."""
    return isinstance(value, dict) and len(value) == 1 and isinstance(value.get(SEAL_MEMBER), str)


def _escape(key: str) -> str:
    return f"${key}" if key.lstrip("$") == "secret" and key.startswith("$") else key


def unescape(key: Any) -> Any:
    """Return a step of a path in a sealed body as the body itself has it."""
    if not isinstance(key, str):
        return key
    return key[1:] if key.lstrip("$") == "secret" and key.startswith("$$") else key
