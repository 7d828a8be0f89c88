"""Write YAML that Kubernetes reads back as it was meant, the same bytes for the same value.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it leaves plain. One more
rule fixes that: text that is not read back as the same text is quoted (docs/reference/design.md#yaml-scalars).
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


def dump(value: Mapping[str, Any], *, has_blocks: bool = False) -> bytes:
    """The document, keys in the order given, ended by a newline. TypeError or ValueError for what is not JSON.

    `has_blocks` writes texts of several lines as blocks, which people read more easily; without it, they are quoted.
    """
    events: list[Any] = [yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False)]
    _emit(value, events.append, _make_block_or_scalar if has_blocks else _make_scalar)
    events += [yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent()]
    text: str = yaml.emit(events, Dumper=_Emitter, allow_unicode=True, width=_NEVER_FOLDED)
    return text.encode()


def _emit(value: Any, emit: Callable[[Any], None], make_scalar: Callable[[str], Any]) -> None:
    """Emit the events of a value, without aliases."""
    match value:
        case str():
            emit(make_scalar(value))
        case Mapping():
            emit(yaml.MappingStartEvent(None, None, implicit=True, flow_style=False))
            for key, member in value.items():
                emit(_make_scalar(key))
                _emit(member, emit, make_scalar)
            emit(yaml.MappingEndEvent())
        case list() | tuple():
            emit(yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False))
            for member in value:
                _emit(member, emit, make_scalar)
            emit(yaml.SequenceEndEvent())
        case _:
            emit(yaml.ScalarEvent(None, None, _BARE, _format_scalar(value)))


def _make_scalar(text: str) -> Any:
    """A text on one line. Halves of surrogate pairs become `?`."""
    clean_text = text.encode("utf-8", "replace").decode()
    return yaml.ScalarEvent(
        None, None, (_is_read_back(clean_text), True), clean_text, style=None if clean_text.isprintable() else '"'
    )


def _make_block_or_scalar(text: str) -> Any:
    """A text of several lines as a block, if a block can hold it unchanged."""
    lines = text.split("\n")
    is_block = len(lines) > 1 and all(line.isprintable() and line == line.rstrip() for line in lines) and lines[0]
    return yaml.ScalarEvent(None, None, (False, True), text, style="|") if is_block else _make_scalar(text)


@lru_cache(maxsize=4096)
def _is_read_back(text: str) -> bool:
    """Tell whether text without quotes is read as the same text, by Kubernetes and by PyYAML."""
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    return resolve(text) == text and not any(pattern.match(text) for _, pattern in patterns)


def _format_scalar(value: Any) -> str:
    """Null, true, false or a number as JSON says it; a float's power of ten with the point that YAML wants."""
    if not (value is None or isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} is not a value that can be written")
    scalar = json.dumps(value, allow_nan=False)
    return scalar.replace("e", ".0e") if isinstance(value, float) and "." not in scalar else scalar


def sort_keys(value: Any) -> Any:
    """Plain JSON with the keys of every mapping sorted, and numbers as Kubernetes writes them: 1, not 1.0.

    TypeError for what is not JSON: a secret, above all.
    """
    match value:
        case Mapping():
            return {str(key): sort_keys(value[key]) for key in sorted(value)}
        case list() | tuple():
            return [sort_keys(member) for member in value]
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
