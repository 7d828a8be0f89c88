"""Names, namespaces and keys as Kubernetes allows them, so that none leaves its folder or becomes another's.

Manifests are untrusted, and what they name becomes a path, a variable or part of an address. So every place of this
package checks here before it uses a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitsync.manifests.kubernetes_names import KEY, NAME, NAMESPACE, NameRule, format_name
from gitsync.model.export import Address
from gitsync.secrets.protocols import VaultError

_NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9]")


def check_names(address: Address, keys: Iterable[str] = ()) -> None:
    """Raise VaultError, which says what is wrong, where Kubernetes would not have such an object or key."""
    wrong = [
        *_wrong(address.namespace, NAMESPACE),
        *_wrong(address.name, NAME),
        *(sentence for key in keys for sentence in _wrong(key, KEY)),
    ]
    if wrong:
        named = f"{format_name(address.namespace)}/{format_name(address.name)}"
        raise VaultError(
            f"{address.holder} {named} cannot be read or written: {'; '.join(wrong)}.",
            hint="Use a name in the manifest that Kubernetes allows.",
        )


def make_variable(address: Address, key: str) -> str:
    """The name of a variable that stands for one key: NAMESPACE_NAME_KEY in capitals, with _ for all else.

    Different keys may meet in one variable (`a-b` and `a.b`): who uses it has to see to that.
    """
    name = _NOT_IN_A_VARIABLE.sub("_", f"{address.namespace}_{address.name}_{key}".upper())
    return f"_{name}" if name[0].isdigit() else name


def _wrong(text: str, rule: NameRule) -> Iterable[str]:
    if broken := rule.broken(text):
        yield f"its {rule.what} {broken}"
