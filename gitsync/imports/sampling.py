"""Looks into the collections of many parents. One of more than `MANY` parents is looked into at `SAMPLE` of them first.

If it is empty at all of these, the others are not asked, and the findings name it: most kinds have collections that
hardly anybody uses, and to ask for each of them would take more requests than there are resources.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from gitsync.imports.acceptance import Acceptance
from gitsync.imports.found import FoundResource
from gitsync.model.facts import Kind

MANY: Final = 20
SAMPLE: Final = 2

Look = Callable[[FoundResource], Awaitable[list[FoundResource]]]


def asks_all(kinds: Iterable[Kind], acceptance: Acceptance) -> bool:
    """Tell whether every parent is asked, however many there are: if a filter names the type, or with --full."""
    return not acceptance.is_sparing or any(acceptance.filters.names_type(kind.arm_type) for kind in kinds)


async def look_everywhere(parents: Iterable[FoundResource], look: Look) -> list[FoundResource]:
    """What all parents have."""
    return [one for entries in await asyncio.gather(*map(look, parents)) for one in entries]


async def look_around(
    parents: Sequence[FoundResource], look: Look, what: str, acceptance: Acceptance
) -> list[FoundResource]:
    """What the parents have, if a sample of them has anything. `what` names the collection in the findings."""
    if len(parents) <= MANY:
        return await look_everywhere(parents, look)
    places = {number * len(parents) // SAMPLE for number in range(SAMPLE)}
    found = await look_everywhere((parents[place] for place in sorted(places)), look)
    others = [parent for place, parent in enumerate(parents) if place not in places]
    if not any(map(acceptance.is_set, found)):
        acceptance.note_unread(f"{what}: not asked for at {len(others)} of {len(parents)}; {SAMPLE} have none")
        return found
    return [*found, *await look_everywhere(others, look)]
