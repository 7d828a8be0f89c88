"""Writes YAML that Kubernetes reads back as it was meant, the same bytes for the same value.

PyYAML quotes what PyYAML would misread; what only Kubernetes would misread (`y`, `1e3`, `08`) it leaves plain. One more
rule fixes that: text that is not read back as the same text is quoted (docs/reference/design.md#yaml-scalars).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from gitsync.desired.manifests.yaml_scalars import resolve

_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # in C some ten times as fast
_NEVER_FOLDED = 2**31 - 1


def dump(value: Mapping[str, Any], *, has_blocks: bool = False) -> bytes:
    """Write a document of plain JSON, keys in the order given, ended by a newline. YAMLError for anything else.

    `has_blocks` writes texts of several lines as blocks, which people read more easily; without it, they are quoted.
    """
    written: bytes = yaml.dump(
        value,
        Dumper=_BlockWriter if has_blocks else _Writer,
        allow_unicode=True,
        default_flow_style=False,
        encoding="utf-8",
        sort_keys=False,
        width=_NEVER_FOLDED,
    )
    return written


class _Writer(_Dumper):  # type: ignore[misc] # PyYAML has no types for the one in C
    """Without anchors, which people do not expect in a manifest."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML's
        return True

    def represent_text(self, text: str) -> yaml.Node:
        """Halves of surrogate pairs become `?`."""
        clean = text.encode("utf-8", "replace").decode()
        # libyaml writes escapes in double quotes only.
        if not clean.isprintable():
            return self._represent(clean, self.choose_block(clean) or '"')
        return self._represent(clean, None if _is_read_back(clean) else "'")

    def choose_block(self, text: str) -> str:  # noqa: ARG002 - replaced below
        return ""

    def _represent(self, text: str, style: str | None) -> yaml.Node:
        node: yaml.Node = self.represent_scalar("tag:yaml.org,2002:str", text, style=style)
        return node


class _BlockWriter(_Writer):
    def choose_block(self, text: str) -> str:
        """Choose a block for a text of several lines, if a block can hold it unchanged."""
        lines = text.split("\n")
        is_block = len(lines) > 1 and lines[0] and all(line.isprintable() and line == line.rstrip() for line in lines)
        if not is_block or text.endswith("\n\n") or max(text) > "\uffff":  # libyaml escapes what is beyond
            return ""
        return "|"


_Writer.add_multi_representer(str, _Writer.represent_text)
_Writer.add_representer(str, _Writer.represent_text)


def _is_read_back(text: str) -> bool:
    """Return whether text without quotes is read as the same text, by Kubernetes and by PyYAML."""
    patterns = yaml.SafeDumper.yaml_implicit_resolvers.get(text[:1], ())
    return resolve(text) == text and not any(pattern.match(text) for _, pattern in patterns)
