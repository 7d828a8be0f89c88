"""Names, namespaces and keys as Kubernetes allows them, so that none leaves its folder or becomes another's.

Manifests are untrusted, and their names become a path, a variable or part of an address. So every place of this
package checks here before it uses a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitsync.errors import SecretStoreError
from gitsync.manifests.kubernetes_names import KEY, NAME, NAMESPACE, NameRule, format_name
from gitsync.model.export import Address

_NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9]")


def check_names(address: Address, keys: Iterable[str] = ()) -> None:
    """Raise SecretStoreError, with the reason, if Kubernetes does not allow such an object or key."""
    problems = [
        *_find_problems(address.namespace, NAMESPACE),
        *_find_problems(address.name, NAME),
        *(sentence for key in keys for sentence in _find_problems(key, KEY)),
    ]
    if problems:
        name = f"{format_name(address.namespace)}/{format_name(address.name)}"
        raise SecretStoreError(
            f"{address.holder} {name} cannot be read or written: {'; '.join(problems)}.",
            hint="Use a name in the manifest that Kubernetes allows.",
        )


def make_variable(address: Address, key: str) -> str:
    """The name of a variable that stands for one key: NAMESPACE_NAME_KEY in capitals, with _ for all else.

    Different keys may result in one variable (`a-b` and `a.b`); the caller has to check.
    """
    name = _NOT_IN_A_VARIABLE.sub("_", f"{address.namespace}_{address.name}_{key}".upper())
    return f"_{name}" if name[0].isdigit() else name


def _find_problems(text: str, rule: NameRule) -> Iterable[str]:
    if violation := rule.broken(text):
        yield f"its {rule.what} {violation}"
