"""Looks up the Secrets that are credentials among the sources of secrets.

Apart from the other values, which a node asks for when its turn comes: who a resource is reconciled as is asked before
there is a plan, and unknown is told from absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gitsync.core.credential_keys import KEYS, SUBSCRIPTION
from gitsync.core.credentials import Found, Place, Unknown
from gitsync.model.export import Address, Holder
from gitsync.vault.lookup import Lookup
from gitsync.vault.points import VaultError


async def find_credentials(places: Iterable[Place], lookup: Lookup) -> Mapping[Place, Found]:
    """What the sources say of each of these Secrets."""
    return {place: await _find(place, lookup) for place in places}


async def _find(place: Place, lookup: Lookup) -> Found:
    """Whole, or by its keys: the environment has no whole objects, and tells by the subscription that it has this one.

    Keys of one Secret may come from several sources, so that a secret need not stand beside the ids.
    """
    address = Address(Holder.SECRET, *place)
    try:
        found = await lookup.ask(address, SUBSCRIPTION)
        if not found.exists:
            found = await lookup.ask(address, None)
        if found.exists:
            found = await lookup.ask_each(address, KEYS)
    except VaultError as error:
        return Unknown(str(error))
    if found.exists:
        return dict(found.values)
    return Unknown("a plan asks no remote source of secrets.", unasked=True) if found.unasked else None
