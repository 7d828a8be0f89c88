"""The names by which a manifest refers to any other: `Kind/name` in its own namespace, or `namespace/Kind/name`.

The kind may have its group, `Kind.group`, and needs it where two kinds have the same name. `Kind.group/namespace/name`,
as reports print a resource, is understood too. Unlike the names of the command line (`selection`), nothing is
abbreviated: the next manifest must not change what a name means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.problems.field_path import FieldPath
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem

FORMS: Final = "Write Kind/name, or namespace/Kind/name for another namespace."
_MOST_GUESSES: Final = 30_000  # comparisons of two names
_MOST_SHOWN: Final = 5
_LONGEST_SHOWN: Final = 120


class _Reading(NamedTuple):
    """What a name may mean."""

    kind: str  # with or without its group
    namespace: str
    name: str

    def names_kind_of(self, key: Key) -> bool:
        return self.kind in {key.kind, f"{key.kind}.{key.group}"}


class WrittenNames:
    """The resources that manifests may name; `unbuilt` are the problems of units that may declare others. Mutable:
    spelling suggestions are counted and limited, since they would take very long for many wrong names.
    """

    def __init__(self, keys: Iterable[Key], unbuilt: Sequence[Problem] = ()) -> None:
        self._unbuilt = unbuilt
        self._by_name: dict[str, list[Key]] = defaultdict(list)
        for key in sorted(set(keys)):
            self._by_name[key.name].append(key)
        self._guesses = _MOST_GUESSES

    def find(self, text: str, namespace: str, *, code: str, path: FieldPath) -> Key | Finding:
        """Find the resource that a text names in a manifest of `namespace`. The finding for a text that names none or
        several has this code and this field; that for one that a unit which cannot be built may declare has its own
        code.
        """
        readings = list(_list_readings(text, namespace))
        matches = sorted({key for reading in readings for key in self._list_matches(reading)})
        if len(matches) == 1:
            return matches[0]
        if matches:
            names = join_with_or([_spell(key, namespace, with_group=True) for key in matches], _MOST_SHOWN)
            return Finding(code=code, path=path, message=f"{text} matches several resources.", hint=f"Use {names}.")
        shown = quote_scalar(text, _LONGEST_SHOWN)
        if not readings:
            return Finding(code=code, path=path, message=f"{shown} is not the name of a resource.", hint=FORMS)
        near = self._find_nearest(readings[0])
        suggestion = f"Did you mean {_spell(near, namespace)}?" if near else ""
        absent = Finding(code=code, path=path, message=f"No manifest declares {shown}.", hint=suggestion or FORMS)
        return doubt_absence(absent, f"No manifest that can be read declares {shown}", self._unbuilt, suggestion)

    def _list_matches(self, reading: _Reading) -> Iterator[Key]:
        same = self._by_name.get(reading.name, ())
        return (key for key in same if key.namespace == reading.namespace and reading.names_kind_of(key))

    def _find_nearest(self, reading: _Reading) -> Key | None:
        """Find the resource of the same name in another namespace or of another kind, else that of a similar name."""
        if same := self._by_name.get(reading.name):
            return min(same, key=lambda key: (not reading.names_kind_of(key), key.namespace != reading.namespace))
        keys = [key for keys in self._by_name.values() for key in keys if key.namespace == reading.namespace]
        self._guesses -= len(keys)
        if self._guesses < 0:
            return None
        spellings = {f"{key.kind}/{key.name}": key for key in keys}
        close = suggest(f"{reading.kind.partition('.')[0]}/{reading.name}", spellings)
        return spellings[close] if close else None


def _list_readings(text: str, namespace: str) -> Iterator[_Reading]:
    """List what a text may mean, the usual form first; nothing for a text that is not a name."""
    if any(not step or any(map(str.isspace, step)) for step in text.split("/")):
        return
    match text.split("/"):
        case [kind, name]:
            yield _Reading(kind, namespace, name)
        case [first, second, name]:
            yield _Reading(second, first, name)
            yield _Reading(first, second, name)  # as reports print it
        case _:
            return


def _spell(key: Key, namespace: str, *, with_group: bool = False) -> str:
    """Spell a resource as a manifest of a namespace names it."""
    kind = f"{key.kind}.{key.group}" if with_group and key.group else key.kind
    return f"{kind}/{key.name}" if key.namespace == namespace else f"{key.namespace}/{kind}/{key.name}"
