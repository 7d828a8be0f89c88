"""Decide where an import looks, and which of the resources there it takes: the ids, groups and filters of the command
line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlsplit

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.kind_names import find_kind
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.validation.references import is_arm_id
from gitsync.errors import ConfigError, GitsyncError
from gitsync.model.arm_id import ArmId
from gitsync.model.problem import Problem

_GROUP_STEPS = 5  # in the id of a resource group: "", subscriptions, S, resourceGroups, G
_SUBSCRIPTION_STEPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportScope:
    """Where a search looks; without groups and ids in the complete subscription."""

    subscription: str
    groups: tuple[str, ...] = ()  # names of resource groups, or patterns of these
    ids: tuple[ArmId, ...] = ()  # those of resources
    may_lack_groups: bool = False  # a group that does not exist is skipped: git may not have created it yet
    goes_on: bool = False  # the search goes on past a group or an id that cannot be read, and reports it
    problems: tuple[Problem, ...] = ()  # about texts that are neither a group nor an id

    @property
    def root(self) -> ArmId:
        return ArmId(f"/subscriptions/{self.subscription}")

    @property
    def is_complete(self) -> bool:
        return not self.groups and not self.ids


def read_scope(ids: Sequence[str], groups: Iterable[str], subscription: str | None, endpoint: str) -> ImportScope:
    """Read ids and groups as typed. A text that is not an id, or of another cloud, is a problem beside others.

    Raises ConfigError if there is nothing else, and for ids of several subscriptions, or none.
    """
    paths: list[ArmId] = []
    wrong: list[ConfigError] = []
    for text in ids:
        try:
            paths.append(read_id(text, endpoint))
        except ConfigError as error:
            wrong.append(error)
    groups = tuple(groups)
    # Without this, an import of nothing but wrong ids would be one of the whole subscription.
    if wrong and not (paths or groups):
        raise wrong[0]
    subscriptions = {own.casefold(): own for path in paths if (own := path.subscription)}
    if subscription:
        subscriptions.setdefault(subscription.casefold(), subscription)
    if len(subscriptions) > 1:
        raise ConfigError(
            f"The ids are of several subscriptions: {', '.join(sorted(subscriptions.values()))}.",
            hint="Run an import for each, with its --subscription.",
        )
    if not subscriptions:
        raise ConfigError("No subscription is set.", hint="Set --subscription or AZURE_SUBSCRIPTION_ID.")
    named = [path.resource_group for path in paths if path.resource_group and path.count("/") + 1 == _GROUP_STEPS]
    is_complete = any(path.count("/") + 1 == _SUBSCRIPTION_STEPS for path in paths)
    resources = [path for path in paths if "/providers/" in path.key]
    return ImportScope(
        subscription=subscriptions.popitem()[1],
        groups=() if is_complete else tuple(dict.fromkeys((*groups, *named))),
        ids=() if is_complete else tuple(dict.fromkeys(resources)),
        goes_on=True,
        problems=tuple(map(make_id_problem, wrong)),
    )


def is_pattern(name: str) -> bool:
    """Return whether the name of a resource group stands for several: no group has these characters in its name."""
    return "*" in name or "?" in name


def list_group_names(wanted: str, names: Iterable[str]) -> list[str]:
    """List the names of resource groups, in lower case, that a name or a pattern stands for, sorted."""
    if is_pattern(wanted):
        return sorted(name for name in names if _matches(name, wanted))
    return [name for name in [wanted.casefold()] if name in names]


def make_id_problem(error: GitsyncError) -> Problem:
    """Make the problem of an id or a group that is not imported, beside others that are."""
    return Problem(code="IdNotImported", message=error.message, hint=error.hint)


def read_id(text: str, endpoint: str) -> ArmId:
    """Read an id as typed: alone, or as its URL in Azure Resource Manager. Raises ConfigError if it is not one."""
    parts = urlsplit(text)
    if parts.scheme and parts.netloc:
        host = urlsplit(endpoint).netloc
        # The address in the portal of another cloud: its id would be looked for in this one.
        if parts.netloc.casefold() != host.casefold():
            raise ConfigError(
                f"{text} is at {parts.netloc}, but --endpoint is {host}.",
                hint="Set --endpoint to the cloud of the id, or give the ARM id alone.",
            )
        text = parts.path
    # The portal and some tools end an id with a slash.
    path = ArmId(text.rstrip("/"))
    if not is_arm_id(path) or not (path.subscription or path.key.startswith("/providers/")):
        hint = "Give an id that begins with /subscriptions/ or /providers/."
        raise ConfigError(f"{text!r} is not an ARM id.", hint=hint)
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What an import selects. An empty filter admits everything. Names and tags decide about a resource directly in a
    resource group, and so about all below it; types about each.
    """

    types: frozenset[str] = frozenset()  # ARM types in lower case
    names: tuple[str, ...] = ()  # patterns of names in Azure
    tags: Mapping[str, str | None] = field(default_factory=dict)  # pairs of name and value, None for any value
    excluded: tuple[str, ...] = ()  # ARM ids, ARM types or patterns of names

    def admits(self, name: str, tags: Any) -> bool:
        """Return whether the filters by name and by tag admit a resource that is directly in a group."""
        shown = {name.casefold(): value for name, value in tags.items()} if isinstance(tags, Mapping) else {}
        by_name = not self.names or any(_matches(name, pattern) for pattern in self.names)
        return by_name and all(
            tag.casefold() in shown and value in {None, shown[tag.casefold()]} for tag, value in self.tags.items()
        )

    def admits_type(self, arm_type: str) -> bool:
        return not self.types or arm_type.casefold() in self.types

    def leads_to(self, arm_type: str) -> bool:
        """Return whether a type, or one below it, is admitted."""
        prefix = f"{arm_type.casefold()}/"
        return self.admits_type(arm_type) or any(wanted.startswith(prefix) for wanted in self.types)

    def names_type(self, arm_type: str) -> bool:
        return arm_type.casefold() in self.types

    def excludes(self, arm_id: ArmId, arm_type: str) -> bool:
        name = arm_id.name
        return any(
            arm_id.is_within(ArmId(excluded))
            if excluded.startswith("/")
            else excluded.casefold() == arm_type.casefold() or _matches(name, excluded)
            for excluded in self.excluded
        )


def make_filters(
    types: Iterable[str], names: Iterable[str], tags: Iterable[str], excluded: Iterable[str], catalog: Catalog
) -> Filters:
    """Read the filters as typed: a type is an ARM type or a kind. ConfigError for a type that is not known."""
    pairs = (tag.partition("=") for tag in tags)
    return Filters(
        types=frozenset(find_type(text, catalog).casefold() for text in types),
        names=tuple(names),
        tags={name: value if equals else None for name, equals, value in pairs},
        excluded=tuple(find_type(text, catalog) if _is_kind(text, catalog) else text for text in excluded),
    )


def find_type(text: str, catalog: Catalog) -> str:
    """Find the ARM type that an ARM type or a kind names. ConfigError if none has this name."""
    group_kind = catalog.group_kind_of(text)
    if group_kind:
        return catalog.arm_type(*group_kind) or text
    if "/" in text and "." in text.partition("/")[0] and not text.partition("/")[0].endswith(".azure.com"):
        if arm_type := open_arm_types().find_type(text):
            return arm_type.name
        close = open_arm_types().suggest_types(text)
        hint = f"Did you mean {join_with_or(close)}?" if close else "Run `gitsync explain` to list all kinds."
        raise ConfigError(f"{text} is not a known ARM type.", hint=hint)
    kind = find_kind(text, catalog).kind
    if kind.is_any_type:
        raise ConfigError(f"{kind.gvk.kind} is a kind for any type.", hint="Name the ARM type.")
    if not kind.is_arm:
        message = f"{kind.gvk.kind} of {kind.gvk.group} is not a resource of Azure Resource Manager."
        raise ConfigError(message, hint="Write its manifest by hand: an import reads only Azure Resource Manager.")
    return kind.arm_type


def _is_kind(text: str, catalog: Catalog) -> bool:
    """Return whether a text names a type or a kind; otherwise it is an id or a pattern of names."""
    if text.startswith("/") or "*" in text:
        return False
    try:
        find_type(text, catalog)
    except ConfigError:
        return False
    return True


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name.casefold(), pattern.casefold())
