"""Secrets from variables of the environment: `GITSYNC_SECRET_<NAMESPACE>_<NAME>_<KEY>` and no others.

The prefix keeps a manifest from asking for any other variable. Names that differ may result in one variable, so a
variable belongs to the first key that reads it; another key of the same variable is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret
from gitsync.repository.secrets.store_rules import check_names, make_variable

PREFIX = "GITSYNC_SECRET_"


class EnvironmentSource:
    """A Source. It provides no whole objects, since the end of a name and the start of a key are ambiguous."""

    name = "environment"
    is_remote = False

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = {name: value for name, value in variables.items() if name.startswith(PREFIX)}
        self._owners: dict[str, tuple[Address, str]] = {}

    async def read(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        return self.find(address, keys)

    def find(self, address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        """Find keys as `read` does, without a wait."""
        if address.object_kind is not ObjectKind.SECRET:
            return None
        check_names(address, keys)
        names = {key: make_secret_variable(address, key) for key in keys}
        values = {key: self._read_value(name, address, key) for key, name in names.items() if self._variables.get(name)}
        return values or None  # a pipeline sets variables without a value to "": these are absent

    def _read_value(self, name: str, address: Address, key: str) -> Secret:
        # `a-b` and `a.b` are both A_B: one variable cannot be the value of two keys.
        first = self._owners.setdefault(name, (address, key))
        if first != (address, key):
            raise SecretStoreError(
                f"The variable {name} is ambiguous: {key} of {address}, or {first[1]} of {first[0]}.",
                hint="Rename one of them, or use another source such as a folder.",
            )
        return Secret(self._variables[name])


def make_secret_variable(address: Address, key: str) -> str:
    """Make the variable that one key of a Secret is read from."""
    return PREFIX + make_variable(address, key).removeprefix("_")
