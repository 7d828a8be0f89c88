"""The Secrets of credentials among the sources: whole or key by key, and unknown where a source does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from gitsync.desired.request.credential_choice import Unknown
from gitsync.errors import SecretStoreError
from gitsync.model.export import Address
from gitsync.model.secret import Secret
from gitsync.repository.secrets.lookup import Lookup, look_up_credentials

LOCATION = ("red", "aso-credential")
IDS = {"AZURE_SUBSCRIPTION_ID": "sub-1", "AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1"}


class CredentialLocation:
    """A source that has one Secret, or none; one that is requested key by key gives no more than was requested."""

    def __init__(
        self, values: Mapping[str, str] | None, *, remote: bool = False, by_key: bool = False, down: bool = False
    ) -> None:
        self.name = "place"
        self.is_remote = remote
        self.requested = 0
        self._values = values
        self._by_key = by_key
        self._down = down

    async def read(self, _address: Address, keys: Sequence[str]) -> Mapping[str, Secret] | None:
        self.requested += 1
        if self._down:
            raise SecretStoreError("The vault answered 403.")
        if self._values is None:
            return None
        found = {key: Secret(value) for key, value in self._values.items() if key in keys or not self._by_key}
        return found or None


class Silent(CredentialLocation):
    """A source that never answers."""

    async def read(self, _address: Address, _keys: Sequence[str]) -> Mapping[str, Secret] | None:
        self.requested += 1
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


async def find(
    *locations: CredentialLocation,
    writes: bool = True,
    redacted: list[Secret] | None = None,
    patience: float = 60,
    stops: bool = False,
):
    hidden = [] if redacted is None else redacted
    lookup, stop = Lookup(locations, reads_remote_secrets=writes, redact=hidden.append), asyncio.Event()
    if stops:
        asyncio.get_running_loop().call_later(0.01, stop.set)
    return (await look_up_credentials([LOCATION], lookup, resource_timeout=patience, stop=stop))[LOCATION]


SECRET = {"AZURE_CLIENT_SECRET": "s3cret"}
FOUND = [
    ([CredentialLocation({**IDS, **SECRET})], {**IDS, **SECRET}, "whole"),
    ([CredentialLocation({**IDS, **SECRET}, by_key=True)], {**IDS, **SECRET}, "key by key, as from the environment"),
    (
        [CredentialLocation(IDS), CredentialLocation(SECRET, by_key=True)],
        {**IDS, **SECRET},
        "the ids here, the secret there",
    ),
    ([CredentialLocation({"AZURE_CLIENT_ID": "x"})], {"AZURE_CLIENT_ID": "x"}, "there, and incomplete"),
    ([CredentialLocation({})], None, "a source that says nothing has nothing"),
    ([CredentialLocation(None), CredentialLocation(None, by_key=True)], None, "nowhere"),
]


@pytest.mark.parametrize(("locations", "expected", "why"), FOUND)
async def test_what_the_sources_say(locations, expected, why):
    found = await find(*locations)
    told = found if found is None else {key: value.reveal() for key, value in found.items()}
    assert told == expected, why


async def test_a_source_that_cannot_tell_leaves_it_unknown():
    assert await find(CredentialLocation(None), CredentialLocation(None, down=True)) == Unknown(
        "The vault answered 403."
    )


async def test_a_plan_asks_no_remote_source_and_knows_that_it_did_not():
    remote = CredentialLocation({**IDS, **SECRET}, remote=True)
    found = await find(CredentialLocation(None), remote, writes=False)
    assert isinstance(found, Unknown)
    assert (found.unasked, remote.requested) == (True, 0)
    assert await find(CredentialLocation(IDS), remote, writes=False) == {
        key: Secret(value) for key, value in IDS.items()
    }


async def test_what_is_found_is_masked_but_for_the_ids():
    hidden: list[Secret] = []
    await find(CredentialLocation({**IDS, **SECRET}), redacted=hidden)
    assert {secret.reveal() for secret in hidden} == {"s3cret"}


@pytest.mark.parametrize("how, why", [({"patience": 0.01}, "its time is up"), ({"stops": True}, "the run is stopped")])
async def test_a_source_that_never_answers_is_not_waited_for_for_ever(how, why):
    silent = Silent(None)
    found = await find(silent, **how)
    assert isinstance(found, Unknown), why
    assert silent.requested == 1
