"""The namespaces outside of a run whose resources its manifests name in expressions (docs/values.md).

Expressions are not parsed here, since a name in one is a literal: a namespace too many is read in vain, and reported by
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from gitsync.desired.catalog.body_words import EXPRESSION, SET
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.model.gvk import AZURE_RESOURCE
from gitsync.model.resource import Resource

_CALL: Final = re.compile(r"""\bresource\s*\(\s*r?\\?["']([^"'\\/]{1,253})/([^"'\\/]{1,253})/""")


def find_named_namespaces(resources: Iterable[Resource], namespaces: Collection[str]) -> frozenset[str]:
    """Find the namespaces that expressions in these namespaces name, and those that theirs name, without these."""
    resources, found = tuple(resources), set(namespaces)
    new = found
    while new:
        texts = (text for resource in resources if resource.key.namespace in new for text in _list_texts(resource))
        named = {name for text in texts for call in _CALL.findall(text) for name in call}
        new = named - found
        found |= new
    return frozenset(found - set(namespaces))


def _list_texts(resource: Resource) -> Iterator[str]:
    yield from (resource.annotations[key] for key in (SET, BODY) if key in resource.annotations)
    if resource.key[:2] == AZURE_RESOURCE:
        yield from _list_words(resource.spec)


def _list_words(value: Any) -> Iterator[str]:
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        if key == EXPRESSION and isinstance(member, str):
            yield member
        elif isinstance(member, dict | list):
            yield from _list_words(member)
