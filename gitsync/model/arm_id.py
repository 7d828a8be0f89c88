"""The id of a resource in Azure, as a type: how ids compare, what is below what, and the parts of an id.

Azure compares ids without regard to case, and what is shown and recorded keeps the case in which it was written. So an
`ArmId` equals and hashes as its text, and lookups use its `key`, which is a type of its own: mypy refuses an id where a
key belongs, and a comparison of an id with a key. Below `formats`, since the values of the model have ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NewType

IdKey = NewType("IdKey", str)
"""The one spelling of an id by which it is compared and looked up: lower case, without a slash at its end."""

MOST_STEPS: Final = 100
"""Of a parent. The longest Azure ids have some 20."""

_PROVIDERS: Final = "/providers/"
_GROUP_STEPS: Final = 4
GROUP_TYPE: Final = "Microsoft.Resources/resourceGroups"


class ArmId(str):
    """An ARM id as somebody wrote it. A text becomes one where it enters: from a response, a record, a manifest, a
    setting, or when gitsync builds it. Whether it has the form of an id, `is_arm_id` checks.

    Bodies of requests have plain texts (`str(arm_id)`), since the comparison of bodies distinguishes types.
    """

    __slots__ = ("_key",)
    _key: IdKey

    @property
    def key(self) -> IdKey:
        try:
            return self._key
        except AttributeError:  # the first time
            self._key = IdKey(self.rstrip("/").casefold())
            return self._key

    def is_same(self, other: ArmId | None) -> bool:
        return other is not None and self.key == other.key

    def is_below(self, other: ArmId) -> bool:
        """Return whether this id is below another: a child, a grandchild, or an extension of either."""
        return self.key.startswith(f"{other.key}/")

    def is_within(self, other: ArmId) -> bool:
        """Return whether this id is another, or below it."""
        return self.is_same(other) or self.is_below(other)

    @property
    def lineage(self) -> Iterator[IdKey]:
        """The key of this id and then those of its parents, the nearest first. Parents of more than `MOST_STEPS` steps
        are left out: a text that only looks like an id may have a million.
        """
        path = str(self.key)
        while path:
            yield IdKey(path)
            path = "/".join(path.rpartition("/")[0].split("/", MOST_STEPS)[:MOST_STEPS])

    @property
    def parent(self) -> ArmId:
        """What owns the resource: its parent, its resource group, or what an extension extends."""
        scope, separator, path = self.rpartition(_PROVIDERS)
        # A provider with one type and one name is right below the scope; with more, it is below another resource.
        return ArmId(self.rsplit("/", 2)[0] if not separator or path.count("/") > 2 else scope)

    @property
    def name(self) -> str:
        """The last step, in its own case."""
        return self.rstrip("/").rpartition("/")[2]

    @property
    def arm_type(self) -> str:
        """The ARM type, in its own case, such as `Microsoft.Kusto/clusters/databases`. The type of an extension is its
        own, not that of its target.
        """
        provider_at = self.casefold().rfind(_PROVIDERS)  # the last one: an extension has that of its target before it
        if provider_at >= 0:
            provider, *rest = self[provider_at + len(_PROVIDERS) :].split("/")
            return "/".join([provider, *rest[::2]])
        return GROUP_TYPE if "/resourcegroups/" in self.casefold() else "Microsoft.Resources/subscriptions"

    @property
    def subscription(self) -> str | None:
        """The subscription; None for tenant scope."""
        steps = self.split("/")
        return steps[2] if len(steps) > 2 and steps[1].casefold() == "subscriptions" else None

    @property
    def is_group(self) -> bool:
        """Return whether it is the id of a resource group itself."""
        # The id of a provider in a subscription has as many steps.
        return self.key.count("/") == _GROUP_STEPS and self.resource_group is not None

    @property
    def resource_group(self) -> str | None:
        """The name of the resource group; None without one."""
        steps = self.split("/")
        return steps[4] if len(steps) > 4 and steps[3].casefold() == "resourcegroups" else None


NO_ID: Final = ArmId()
