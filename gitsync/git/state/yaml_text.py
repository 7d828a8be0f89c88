"""Write YAML that Kubernetes reads back as it was meant, the same bytes for the same value.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it leaves plain. One more
rule fixes that: text that would not be read back as the same text is quoted (docs/reference/design.md#yaml-scalars).
This module emits the events of the document itself, since the representer of PyYAML takes most of the time.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import yaml

from gitsync.manifests.yaml_scalars import WHOLE_BELOW, resolve

_Emitter: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C some ten times as fast
_NEVER_FOLDED = 2**31 - 1
_BARE = (True, False)  # a scalar that needs neither tag nor quotes


def dump(value: Mapping[str, Any]) -> bytes:
    """The document, keys in the order given, ended by a newline. TypeError or ValueError for what is not JSON."""
    events: list[Any] = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    _tell(value, events.append)
    events += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(events, Dumper=_Emitter, allow_unicode=True, width=_NEVER_FOLDED)
    return text.encode()


def _tell(value: Any, tell: Callable[[Any], None]) -> None:
    """Tell the events of a value. There are no aliases: a reader of the file should not have to look things up."""
    match value:
        case str():
            tell(_text(value))
        case Mapping():
            tell(yaml.MappingStartEvent(None, None, implicit=True, flow_style=False))
            for key, member in value.items():
                tell(_text(key))
                _tell(member, tell)
            tell(yaml.MappingEndEvent())
        case list() | tuple():
            tell(yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False))
            for member in value:
                _tell(member, tell)
            tell(yaml.SequenceEndEvent())
        case _:
            tell(yaml.ScalarEvent(None, None, _BARE, _word(value)))


def _text(text: str) -> Any:
    """On one line, whatever it holds. Halves of surrogate pairs, which no file can hold, become `?`."""
    whole = text.encode("utf-8", "replace").decode()
    return yaml.ScalarEvent(None, None, (_comes_back(whole), True), whole, style=None if whole.isprintable() else '"')


@lru_cache(maxsize=4096)
def _comes_back(text: str) -> bool:
    """Whether text without quotes is read as the same text, by Kubernetes and by PyYAML. Most of it is met again."""
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    return resolve(text) == text and not any(pattern.match(text) for _, pattern in patterns)


def _word(value: Any) -> str:
    """Null, true, false or a number as JSON says it; a float's power of ten with the point that YAML wants."""
    if not (value is None or isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} is not a value that can be written")
    word = json.dumps(value, allow_nan=False)
    return word.replace("e", ".0e") if isinstance(value, float) and "." not in word else word


def sort_keys(value: Any) -> Any:
    """Plain JSON with the keys of every mapping sorted, and numbers as Kubernetes writes them: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case Mapping():
            return {str(key): sort_keys(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [sort_keys(each) for each in value]
        case str():
            return str(value)
        case float() if value.is_integer() and abs(value) < WHOLE_BELOW:
            return int(value)
        case bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case _:
            raise TypeError(f"{type(value).__name__} is not a value that can be written")
