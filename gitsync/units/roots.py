"""The roots among the kustomizations of a source: those that no other one is built on.

A base is not a root, and must not become one by a slip in the kustomization that names it: it would be applied without
its overlay. So a kustomization that cannot be read in full still claims what its text seems to name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from gitsync.units.closure import KustomizationReader


def find_roots(kustomizations: Sequence[str], reader: KustomizationReader) -> tuple[str, ...]:
    """Those of `kustomizations` that no other one of them is built on, sorted; of a circle, the first."""
    bases = _find_bases(kustomizations, reader)
    claimed = {base for found in bases.values() for base in found}
    roots = [path for path in kustomizations if path not in claimed]
    covered = _find_covered(roots, bases)
    for path in kustomizations:
        if path not in covered:
            roots.append(path)
            covered |= _find_covered([path], bases)
    return tuple(sorted(roots))


def _find_bases(kustomizations: Iterable[str], reader: KustomizationReader) -> Mapping[str, set[str]]:
    """What each is built on; also of bases that are not among them, such as ignored ones."""
    pending, bases = list(kustomizations), dict[str, set[str]]()
    while pending:
        path = pending.pop()
        if path not in bases:
            bases[path] = set(reader.list_likely_bases(path)) - {path}
            pending.extend(bases[path])
    return bases


def _find_covered(roots: Iterable[str], bases: Mapping[str, set[str]]) -> set[str]:
    pending, covered = list(roots), set[str]()
    while pending:
        path = pending.pop()
        if path not in covered:
            covered.add(path)
            pending.extend(bases[path])
    return covered
