"""Looks up credential Secrets in the secret sources.

Separate from the other values, which a node reads when its turn comes: credentials are resolved before planning, and
unknown differs from absent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from gitsync.errors import SecretStoreError
from gitsync.manifests.credential_secret import KEYS, SUBSCRIPTION
from gitsync.model.export import Address, Holder
from gitsync.request.credential_choice import CredentialLookup, CredentialName, Unknown
from gitsync.secrets.lookup import Lookup
from gitsync.secrets.patience import TIMED_OUT, wait_for_sources


async def find_credentials(
    credential_names: Iterable[CredentialName], lookup: Lookup, *, patience: float, stop: asyncio.Event
) -> Mapping[CredentialName, CredentialLookup]:
    """The state of each of these Secrets in the sources. It is unknown if the sources do not answer within `patience`
    seconds, or the run is stopped.
    """
    names = tuple(credential_names)
    found = await wait_for_sources(_find_all(names, lookup), patience=patience, stop=stop)
    return dict.fromkeys(names, Unknown(TIMED_OUT)) if found is None else found


async def _find_all(
    credential_names: Iterable[CredentialName], lookup: Lookup
) -> Mapping[CredentialName, CredentialLookup]:
    return {credential: await _find(credential, lookup) for credential in credential_names}


async def _find(credential: CredentialName, lookup: Lookup) -> CredentialLookup:
    """Look for the whole Secret, or for its keys: the environment has no whole objects; the subscription shows that it
    has this one.

    Keys of one Secret may come from several sources, so that a secret can be stored apart from the ids.
    """
    address = Address(Holder.SECRET, *credential)
    try:
        state = await lookup.ask(address, SUBSCRIPTION)
        if not state.exists:
            state = await lookup.ask(address, None)
        if state.exists:
            state = await lookup.ask_each(address, KEYS)
    except SecretStoreError as error:
        return Unknown(error.message, error.hint)
    if state.exists:
        return dict(state.values)
    return Unknown(f"a plan does not know it: {state.unread}.", unasked=True) if state.unread else None
