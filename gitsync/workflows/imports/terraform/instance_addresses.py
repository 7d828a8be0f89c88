"""Addresses of resource instances in a Terraform state, such as `module.net["a"].azurerm_subnet.app[0]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NAME: Final = r"[^\W\d][\w-]*"
_KEY: Final = r'\[(?:\d+|"(?:[^"\\]|\\.)*")\]'
_STEP: Final = rf"module\.{_NAME}(?:{_KEY})?"

_IDENTIFIER: Final = re.compile(_NAME)
_MODULE: Final = re.compile(rf"{_STEP}(?:\.{_STEP})*")
_ANY_KEY: Final = re.compile(_KEY)

_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True, order=True)
class InstanceAddress:
    """Where one instance of a resource is in a configuration."""

    module: str  # the path of its module, with the keys of instances; "" for the root module
    type: str  # the type of the resource in Terraform, such as `azurerm_subnet`
    name: str  # the name of the block
    key: str = ""
    """The key of the instance as an address has it, such as `[0]` or `["a"]`; "" without `count` and `for_each`."""

    is_data: bool = False  # whether it is a data source

    @property
    def block(self) -> str:
        """The address of the block in the configuration: without keys, which `removed` does not allow."""
        return f"{_begin(_ANY_KEY.sub('', self.module))}{self.type}.{self.name}"

    def __str__(self) -> str:
        return f"{_begin(self.module)}{'data.' if self.is_data else ''}{self.type}.{self.name}{self.key}"


def _begin(module: str) -> str:
    return f"{module}." if module else ""


def make_address(
    module: object, type_name: object, name: object, index: object, *, is_data: bool = False
) -> InstanceAddress:
    """Make an address of untrusted parts. Raises ValueError if Terraform could not have written one of them: what is
    made ends up in files that people run.
    """
    if not isinstance(module, str) or (module and not (_MODULE.fullmatch(module) and module.isprintable())):
        raise ValueError("the path of its module is malformed")
    if not isinstance(type_name, str) or not _IDENTIFIER.fullmatch(type_name):
        raise ValueError("its type is not an identifier")
    if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
        raise ValueError("its name is not an identifier")
    return InstanceAddress(module, type_name, name, _format_key(index), is_data)


def _format_key(index: object) -> str:
    if index is None:
        return ""
    if isinstance(index, str):
        return f'["{_escape(index)}"]'
    if isinstance(index, int) and not isinstance(index, bool) and index >= 0:
        return f"[{index}]"
    raise ValueError("its key is neither a number nor a text")


def _escape(text: str) -> str:
    """Escape a text as Terraform does in addresses: templates, quotes, and what is not printable."""
    letters = (_ESCAPES.get(letter) or (letter if letter.isprintable() else _spell(letter)) for letter in text)
    return "".join(letters).replace("${", "$${").replace("%{", "%%{")


def _spell(letter: str) -> str:
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
