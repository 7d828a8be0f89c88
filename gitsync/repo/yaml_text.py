"""Write YAML that Kubernetes reads back as it was meant, the same bytes for the same value.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it leaves plain. One more
rule mends that: text that would not come back as the same text is quoted (spec: deps §3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import yaml

from gitsync.core.scalars import WHOLE_BELOW, resolve

_Base: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C some ten times as fast
_NEVER_FOLDED = 2**31 - 1


class _Misread:
    """What a dumper takes for a pattern: whether text needs quotes."""

    @staticmethod
    def match(text: str) -> bool:
        return resolve(text) != text


class _Dumper(_Base):  # type: ignore[misc]  # the base depends on how PyYAML was built
    def ignore_aliases(self, _data: Any) -> bool:
        return True  # a reader of the file should not have to look things up

    def represent_text(self, text: str) -> Any:
        """On one line, whatever it holds. Halves of surrogate pairs, which no file can hold, become `?`."""
        whole = text.encode("utf-8", "replace").decode()
        return self.represent_scalar("tag:yaml.org,2002:str", whole, style=None if whole.isprintable() else '"')


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_implicit_resolver("tag:yaml.org,2002:misread", _Misread, None)


def dump(value: Mapping[str, Any]) -> bytes:
    """The document, keys in the order given, ended by a newline."""
    text: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_NEVER_FOLDED)
    return text.encode()


def ordered(value: Any) -> Any:
    """Plain JSON with the keys of every mapping sorted, and numbers as Kubernetes writes them: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case Mapping():
            return {str(key): ordered(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [ordered(each) for each in value]
        case str():
            return str(value)
        case float() if value.is_integer() and abs(value) < WHOLE_BELOW:
            return int(value)
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that is written down")
