"""Names, namespaces and keys as Kubernetes allows them, so that none leaves its folder or becomes another's.

Manifests are untrusted, and what they name becomes a path, a variable or part of an address. So every place of this
package checks here before it uses a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gitsync.model.export import Address
from gitsync.vault.points import VaultError

_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_RULES = (  # what, pattern, most characters, in words
    ("name", re.compile(rf"{_LABEL}(?:\.{_LABEL})*"), 253, "lower-case letters, digits, - and ., as RFC 1123 has them"),
    ("namespace", re.compile(_LABEL), 63, "lower-case letters, digits and -, as RFC 1123 has them"),
    ("key", re.compile(r"(?!\.\.|\.\Z)[-._a-zA-Z0-9]+"), 253, "letters, digits, -, _ and ., and not .. at its start"),
)
_NAME, _NAMESPACE, _KEY = _RULES
_LONGEST_SHOWN = 80
_NOT_IN_A_VARIABLE = re.compile(r"[^A-Z0-9]")


def check_names(address: Address, keys: Iterable[str] = ()) -> None:
    """Raise VaultError, which says what is wrong, where Kubernetes would not have such an object or key."""
    wrong = [
        *_wrong(address.namespace, *_NAMESPACE),
        *_wrong(address.name, *_NAME),
        *(sentence for key in keys for sentence in _wrong(key, *_KEY)),
    ]
    if wrong:
        raise VaultError(
            f"{address.holder} {_shown(address.namespace)}/{_shown(address.name)} cannot be looked for or written: "
            + "; ".join(wrong)
            + ".",
            hint="Name it in the manifest as Kubernetes allows.",
        )


def variable(address: Address, key: str) -> str:
    """The name of a variable that stands for one key: NAMESPACE_NAME_KEY in capitals, with _ for all else.

    Different keys may meet in one variable (`a-b` and `a.b`): who uses it has to see to that.
    """
    name = _NOT_IN_A_VARIABLE.sub("_", f"{address.namespace}_{address.name}_{key}".upper())
    return f"_{name}" if name[0].isdigit() else name


def _wrong(text: str, what: str, pattern: re.Pattern[str], most: int, words: str) -> Iterable[str]:
    if len(text) > most:
        yield f"its {what} has {len(text)} characters, and may have {most}"
    elif not pattern.fullmatch(text):
        yield f"its {what} {_shown(text)!r} is not made of {words}"


def _shown(text: str) -> str:
    printable = text if text.isprintable() else ascii(text)[1:-1]
    return printable if len(printable) <= _LONGEST_SHOWN else f"{printable[:_LONGEST_SHOWN]}…"
