"""The rules that every source and sink keeps: names, values as bytes, and who owns an object.

Manifests are untrusted, and their names become a path, a variable or part of an address: a name must be one that
Kubernetes allows, so that none leaves its folder or becomes another's. Values become bytes and back without ever being
shown: Python's own errors of encoding carry the text that they are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitsync.desired.manifests.kubernetes_names import KEY, NAME, NAMESPACE, NameRule, format_name
from gitsync.errors import NotOwnedError, SecretStoreError
from gitsync.model.export import NAMELESS, Address, Export, Owner
from gitsync.model.secret import Secret

MOST_BYTES = 1024 * 1024
"""The limit of Kubernetes for an object, and the most that is read of one value."""


def check_names(address: Address, keys: Iterable[str] = ()) -> None:
    """Raise SecretStoreError, with the reason, if Kubernetes does not allow such an object or key."""
    problems = [
        *_list_problems(address.namespace, NAMESPACE),
        *_list_problems(address.name, NAME),
        *(sentence for key in keys for sentence in _list_problems(key, KEY)),
    ]
    if problems:
        name = f"{format_name(address.namespace)}/{format_name(address.name)}"
        raise SecretStoreError(
            f"{address.object_kind} {name} cannot be read or written: {'; '.join(problems)}.",
            hint="Use a name in the manifest that Kubernetes allows.",
        )


def _list_problems(text: str, rule: NameRule) -> Iterable[str]:
    if violation := rule.explain_fault(text):
        yield f"its {rule.what} {violation}"


def make_variable(address: Address, key: str) -> str:
    """Make the name of a variable that stands for one key: NAMESPACE_NAME_KEY in capitals, with _ for all else.

    Different keys may result in one variable (`a-b` and `a.b`); the caller has to check.
    """
    name = _NOT_IN_A_VARIABLE.sub("_", f"{address.namespace}_{address.name}_{key}".upper())
    return f"_{name}" if name[0].isdigit() else name  # no variable begins with a digit


def encode_value(value: Secret, address: Address, key: str) -> bytes:
    """Encode the value in UTF-8. SecretStoreError if it contains half of a surrogate pair."""
    text = value.reveal()
    # JSON can hold half of a pair, which `encode` would refuse with the whole text in its error.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise SecretStoreError(f"The value of {key} of {address} is not text: it cannot be encoded in UTF-8.")
    return text.encode()


def decode_secret(content: bytes, path: str) -> Secret:
    """Decode the text that was read from `path`, unchanged. SecretStoreError if it is too large or not UTF-8."""
    if len(content) > MOST_BYTES:
        raise SecretStoreError(
            f"{path} exceeds the limit of {MOST_BYTES} bytes for one value.",
            hint="Check that it is the right file.",
        )
    # Compared with the bytes rather than decoded strictly: that error would carry the content.
    text = content.decode("utf-8", "replace")
    if text.encode() != content:
        raise SecretStoreError(f"{path} is not text in UTF-8, and resources take only text.", hint="Keep it encoded.")
    return Secret(text)


def check_export(export: Export) -> None:
    """Raise SecretStoreError if no sink could hold an object: for a name, a key, or a value that is not text."""
    check_names(export.address, export.data)
    for key, value in export.data.items():
        encode_value(value, export.address, key)


def check_owner(export: Export, owner: str | None, what: str) -> None:
    """Raise NotOwnedError if `what` belongs to another owner (None: it does not exist): a concurrent run may have been
    first. So a sink checks again right before it writes.
    """
    if owner not in {None, str(export.owner)}:
        raise NotOwnedError(
            f"{what} does not belong to {export.owner}, so it is not written.{describe_owner(owner)}",
            # Only an object that no resource exports is one to delete.
            hint="Export to another name." if _parse_owner(owner) else "Export to another name, or delete it.",
        )


def describe_owner(owner: str | None, what: str = "it") -> str:
    """Name the resource and the agent that own `what`: a sentence with a blank before it; "" if none does."""
    known = _parse_owner(owner)
    if known is None:
        return ""
    agent = f" of the agent {known.agent}" if known.agent != NAMELESS else ""
    return f" {known.key}{agent} exports {what}."


def _parse_owner(owner: str | None) -> Owner | None:
    try:
        return Owner.parse(owner) if owner else None
    except ValueError:
        return None


_NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9]")
