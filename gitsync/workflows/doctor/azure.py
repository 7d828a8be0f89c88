"""Checks Azure: the endpoint, the identity, the subscriptions, their resource providers, and the rights of the
identity.

Nothing is written. Each check has a limit of time, and the failure of one does not skip another.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Final

from gitsync.desired.formats.arm_path import read_provider
from gitsync.desired.formats.name_list import name_first
from gitsync.errors import ArmError, GitsyncError
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.clock import Clock
from gitsync.model.resource import Prepared
from gitsync.model.signin import Method
from gitsync.planning.status.advice import find_advice
from gitsync.providers.arm.auth.principal import describe_principal
from gitsync.providers.arm.client import Arm, Reader
from gitsync.providers.arm.session import Session
from gitsync.report.wording import format_plural
from gitsync.settings.config.config import Config
from gitsync.workflows.doctor.rights import NeededRight, Use, has_own_credential, list_needed_rights, name_scope
from gitsync.workflows.doctor.setup_check import Check, CheckLevel, make_doubt, make_failure, make_ok
from gitsync.workflows.doctor.source import ANY_SUBSCRIPTION

PATIENCE: Final = 30.0
"""Seconds for each check."""

_SUBSCRIPTIONS_VERSION = "2022-12-01"
_PROVIDERS_VERSION = "2021-04-01"
_MOST_NAMED = 5
_MOST_OWN_SCOPES = 20
_NOT_SEEN = "Deny assignments, policies, locks and rights to join other resources are not checked."

Permissions = Sequence[Mapping[str, Any]]

PERMISSIONS = "providers/Microsoft.Authorization/permissions"
API_VERSION = "2022-04-01"


def grants(permissions: Iterable[Mapping[str, Any]], action: str) -> bool:
    """Return whether one of the permissions at a scope grants an action: there is one for each role that is assigned
    there or above. It grants what one of its `actions` matches and none of its `notActions`; `*` stands for any text,
    and case does not count (https://learn.microsoft.com/azure/role-based-access-control/role-definitions).
    """
    return any(
        _matches(entry.get("actions"), action) and not _matches(entry.get("notActions"), action)
        for entry in permissions
    )


def _matches(patterns: object, action: str) -> bool:
    texts = patterns if isinstance(patterns, list) else []
    return any(isinstance(text, str) and _compile(text).fullmatch(action) for text in texts)


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.IGNORECASE)


async def run_check(name: str, request: Callable[[], Awaitable[Check]]) -> Check:
    """Run one check, whatever becomes of it."""
    try:
        async with asyncio.timeout(PATIENCE):
            return await request()
    except TimeoutError:
        return make_doubt(name, f"No response within {PATIENCE:g} seconds.", "Check the network, then retry.")
    except ArmError as error:
        hint = error.hint or find_advice(error.code)
        return Check(name=name, level=CheckLevel.ERROR, message=f"{error.code}: {error.message}", hint=hint)
    except GitsyncError as error:
        return make_failure(name, error)


class AzureExamination:
    """The checks of one identity. `prepared` are the resources that it would reconcile."""

    def __init__(
        self, config: Config, arm: Arm, clock: Clock, prepared: Iterable[Prepared], registry: Registry
    ) -> None:
        self._config = config
        self._arm = arm
        self._clock = clock
        self._registry = registry
        every = tuple(prepared)
        self._own = tuple(
            resource for resource in every if resource.template is not None and not has_own_credential(resource)
        )
        self._others = sum(map(has_own_credential, every))

    async def examine(self) -> list[Check]:
        """The endpoint and the identity first: without them nothing else can be known."""
        checks = [await run_check("endpoint", self._reach)]
        # The identity of the settings is used for no resource, so its rights mean nothing.
        if self._others and not self._own:
            return [*checks, self._describe_others()]
        checks.append(await run_check("identity", self._sign_in))
        # Each of the others would fail for the same reason, and hide it.
        if any(check.level is CheckLevel.ERROR for check in checks):
            what = "subscription, resource providers and rights"
            return [*checks, make_doubt("rights", f"Not checked: {what}.", "Fix the errors above, then run again.")]
        subscriptions = sorted({*self._list_subscriptions()} - {""})
        if not subscriptions:
            message = "No subscription is set, so ARM ids cannot be built."
            missing = Check(
                name="subscription",
                level=CheckLevel.ERROR,
                message=message,
                hint="Set AZURE_SUBSCRIPTION_ID or --subscription; `az account list` shows yours.",
            )
            return [*checks, missing]
        return [*checks, *await self._examine_subscriptions(subscriptions)]

    async def _examine_subscriptions(self, subscriptions: Sequence[str]) -> list[Check]:
        every = list_needed_rights(self._config, self._own, self._registry).rights
        needed = [right for right in every if right.use is Use.RUN]
        namespaces = sorted({(right.arm_id.subscription or "", read_provider(right.arm_id)) for right in needed})
        found = await asyncio.gather(
            *(
                run_check("subscription", partial(self._read_subscription, subscription))
                for subscription in subscriptions
            ),
            # What is in the tenant has no subscription in which a provider could be registered.
            run_check("providers", lambda: self._read_providers([pair for pair in namespaces if pair[0]])),
            run_check("rights", lambda: self._read_rights(needed)),
        )
        return [*found, self._describe_others()] if self._others else found

    def _describe_others(self) -> Check:
        message = f"{format_plural(self._others, 'resource')} with a credential Secret: its identity is not checked."
        return make_doubt("credentials", message, "Run `gitsync doctor` with that identity.")

    def _list_subscriptions(self) -> Iterator[str]:
        yield self._config.subscription or ""
        for resource in self._own:
            subscription = (resource.arm_id or NO_ID).subscription or ""
            yield "" if subscription == ANY_SUBSCRIPTION else subscription

    def _reader(self) -> Reader:
        return self._arm.reader(Session(deadline=self._clock.monotonic() + PATIENCE))

    async def _reach(self) -> Check:
        await self._arm.reach(self._clock.monotonic() + PATIENCE)
        name = "the emulator" if self._config.emulator is not None else self._config.endpoint
        return make_ok("endpoint", f"{name} is reachable.")

    async def _sign_in(self) -> Check:
        principal = await self._arm.sign_in(self._clock.monotonic() + PATIENCE)
        anonymous = self._config.emulator is not None or self._config.credential == Method.ANONYMOUS
        method = Method.ANONYMOUS.value if anonymous else self._config.credential
        return make_ok("identity", describe_principal(principal, method))

    async def _read_subscription(self, subscription: str) -> Check:
        name = f"subscription {subscription}"
        live = await self._reader().get(f"/subscriptions/{subscription}", _SUBSCRIPTIONS_VERSION)
        if live is None:
            message, hint = f"{name} was not found.", "Check AZURE_SUBSCRIPTION_ID, and the tenant of the identity."
            return Check(name="subscription", level=CheckLevel.ERROR, message=message, hint=hint)
        shown, state = live.body.get("displayName"), live.body.get("state")
        # Such a subscription can be read, so that only a write would show it.
        if state != "Enabled":
            message, hint = f"{name} is {state}, so Azure may refuse writes.", "Enable the subscription."
            return make_doubt("subscription", message, hint)
        return make_ok("subscription", f"{subscription} ({str(shown)[:200]}), enabled")

    async def _read_providers(self, namespaces: Sequence[tuple[str, str]]) -> Check:
        """The registration of each namespace in its subscription."""
        paths = [f"/subscriptions/{subscription}/providers/{namespace}" for subscription, namespace in namespaces]
        found = await asyncio.gather(*(self._reader().get(path, _PROVIDERS_VERSION) for path in paths))
        missing = [
            namespace
            for (_, namespace), live in zip(namespaces, found, strict=True)
            if live is None or str(live.body.get("registrationState")).casefold() != "registered"
        ]
        if not missing:
            return make_ok("providers", f"{format_plural(len(namespaces), 'resource provider')} registered")
        message = f"{name_first(missing, _MOST_NAMED)} not registered."
        if self._config.register_providers:
            hint = f"A sync registers them, if the identity has rights such as {missing[0]}/register/action."
            return make_doubt("providers", message, hint)
        hint = " ".join(f"Run `az provider register -n {namespace}`." for namespace in missing)
        return Check(name="providers", level=CheckLevel.ERROR, message=message, hint=hint)

    async def _read_rights(self, needed: Sequence[NeededRight]) -> Check:
        """The needed rights against the permissions at each scope: one read a scope."""
        scopes = sorted({right.scope for right in needed})
        found = dict(zip(scopes, await asyncio.gather(*map(self._read_permissions, scopes)), strict=True))
        missing = [right for right in needed if not grants(found[right.scope], right.action)]
        # Only for what is missing: most roles are assigned at a group or a subscription.
        missing = await self._leave_out_own(missing)
        counts = f"{format_plural(len(needed), 'right')} at {format_plural(len(scopes), 'scope')}"
        if not missing:
            return make_ok("rights", f"{counts} granted. {_NOT_SEEN}")
        return Check(
            name="rights",
            level=CheckLevel.ERROR,
            message=f"{len(missing)} of {counts} not granted: {name_first(_format_rights(missing), _MOST_NAMED)}.",
            hint=f"Grant the identity a role that has these actions. {_NOT_SEEN}",
        )

    async def _read_permissions(self, scope: str) -> Permissions:
        """The permissions at a scope; those of the subscription for a group that does not exist yet."""
        try:
            return await self._reader().list(f"{scope}/{PERMISSIONS}", API_VERSION)
        except ArmError as error:
            above = scope.partition("/resourceGroups/")[0]
            # A group that a sync will create has no permissions of its own, but inherits those of the subscription.
            if error.status != 404 or above == scope:
                raise
            return await self._reader().list(f"{above}/{PERMISSIONS}", API_VERSION)

    async def _leave_out_own(self, missing: Sequence[NeededRight]) -> list[NeededRight]:
        """The rights that a role on the resource itself does not grant either; only the first resources are checked."""
        # An id with a gap in it cannot be read.
        ids = sorted({right.arm_id for right in missing if "<" not in right.arm_id})[:_MOST_OWN_SCOPES]
        found = dict(zip(ids, await asyncio.gather(*map(self._read_own, ids)), strict=True))
        return [right for right in missing if not grants(found.get(right.arm_id, ()), right.action)]

    async def _read_own(self, arm_id: ArmId) -> Permissions:
        try:
            return await self._reader().list(f"{arm_id}/{PERMISSIONS}", API_VERSION)
        except ArmError:  # it does not exist, or cannot have roles of its own
            return ()


def _format_rights(rights: Iterable[NeededRight]) -> list[str]:
    """The actions, each with its scopes."""
    scopes: defaultdict[str, list[str]] = defaultdict(list)
    for right in rights:
        scopes[right.action].append(name_scope(right.scope))
    return [f"{action} in {name_first(sorted(found), 2)}" for action, found in sorted(scopes.items())]
