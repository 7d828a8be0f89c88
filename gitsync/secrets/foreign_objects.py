"""Objects of the secret sources that an export would overwrite: those of people, and of other resources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from dataclasses import replace

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, Owner, is_owned_by
from gitsync.model.problem import Problem
from gitsync.model.resource import Prepared
from gitsync.problems.finding import locate_finding
from gitsync.request.export_owners import find_first_fields, make_foreign
from gitsync.request.exports import group_keys
from gitsync.secrets.protocols import KnowsOwners, SecretSource


async def find_foreign(sources: Sequence[SecretSource], address: Address, keys: Collection[str], owner: Owner) -> bool:
    """Tell whether a source has an object that belongs to anybody but `owner`. `keys` are those that are exported.

    Raises SecretStoreError if a source cannot tell.
    """
    return bool([name async for name in _iterate_holders(sources, address, keys, lambda text: text == str(owner))])


async def add_foreign_objects(prepared: Sequence[Prepared], sources: Sequence[SecretSource]) -> tuple[Prepared, ...]:
    """Return the resources with a problem for each object that a source has under the name of a destination.

    A source that cannot tell adds none: the export itself asks it again, and fails.
    """
    return tuple([await _add_to(one, sources) for one in prepared])


async def _add_to(prepared: Prepared, sources: Sequence[SecretSource]) -> Prepared:
    problems = [problem async for problem in _find_problems(prepared, sources)]
    if not problems:
        return prepared
    return replace(prepared, problems=tuple(sorted((*prepared.problems, *problems), key=lambda one: one.order)))


async def _find_problems(prepared: Prepared, sources: Sequence[SecretSource]) -> AsyncIterator[Problem]:
    resource, keys = prepared.resource, group_keys(prepared.resource)
    for address, path in find_first_fields(resource).items():
        try:
            async for name in _iterate_holders(
                sources, address, keys[address], lambda text: is_owned_by(text, resource.key)
            ):
                finding = make_foreign(resource.key, address, path, f"the secret source {name} has it")
                yield locate_finding(finding, resource)
        except SecretStoreError:
            continue


async def _iterate_holders(
    sources: Sequence[SecretSource], address: Address, keys: Collection[str], is_own: Callable[[str], bool]
) -> AsyncIterator[str]:
    """The names of the sources that have an object which is not the exporter's own."""
    for source in sources:
        text = await _find_owner(source, address, keys)
        if text is not None and not is_own(text):
            yield source.name


async def _find_owner(source: SecretSource, address: Address, keys: Collection[str]) -> str | None:
    """As `Sink.owner`. A source without notes of owners is asked for the exported keys: the environment has no whole
    objects.
    """
    if isinstance(source, KnowsOwners):
        return await source.owner(address)
    return None if await source.read(address, tuple(sorted(keys))) is None else ""
