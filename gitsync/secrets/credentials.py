"""Looks up credential Secrets in the secret sources.

Separate from the other values, which a node reads when its turn comes: credentials are resolved before planning, and
unknown differs from absent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from gitsync.manifests.credential_secret import KEYS, SUBSCRIPTION
from gitsync.model.export import Address, Holder
from gitsync.request.credential_choice import CredentialLookup, CredentialName, Unknown
from gitsync.secrets.lookup import Lookup
from gitsync.secrets.protocols import VaultError


async def find_credentials(
    places: Iterable[CredentialName], lookup: Lookup, *, patience: float, stop: asyncio.Event
) -> Mapping[CredentialName, CredentialLookup]:
    """What the sources say of each of these Secrets. What they have not said after `patience` seconds, or when the run
    is stopped, is unknown.
    """
    wanted = tuple(places)
    asking = asyncio.create_task(_find_each(wanted, lookup))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({asking, stopping}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if asking.done():
        return asking.result()
    asking.cancel()
    await asyncio.wait({asking})
    return dict.fromkeys(wanted, Unknown("Timed out waiting for secret sources."))


async def _find_each(places: Iterable[CredentialName], lookup: Lookup) -> Mapping[CredentialName, CredentialLookup]:
    return {place: await _find(place, lookup) for place in places}


async def _find(place: CredentialName, lookup: Lookup) -> CredentialLookup:
    """Whole, or by its keys: the environment has no whole objects; the subscription shows that it has this one.

    Keys of one Secret may come from several sources, so that a secret can be stored apart from the ids.
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
    return Unknown("a plan does not read remote secret sources.", unasked=True) if found.unasked else None
