"""Parse the path of a request: a subscription, a group, a resource, a collection, an action, or a Microsoft Graph
object.

The emulator has its own parser of ids, so that a bug in the client's parser cannot hide here. Nothing is looked up: the
target need not exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from urllib.parse import unquote


class PathShape(StrEnum):
    SUBSCRIPTIONS = "subscriptions"  # the collection
    SUBSCRIPTION = "subscription"
    GROUPS = "groups"
    GROUP = "group"
    RESOURCES = "resources"  # in a subscription or a group
    PROVIDERS = "providers"
    PROVIDER = "provider"  # a namespace, below a subscription or the tenant
    RESOURCE = "resource"
    COLLECTION = "collection"  # resources of one type; for a POST, the word is an action
    DIRECTORY = "directory"  # of Microsoft Graph: a collection of objects, or one of them
    UNKNOWN = "unknown"


GROUP_TYPE = "Microsoft.Resources/resourceGroups"
GRAPH_NAMESPACE = "Microsoft.Graph"
GRAPH_VERSION = "v1.0"
"""The first word of every Microsoft Graph path, and of no ARM path."""

_SHAPES = {
    (1, ("subscriptions",)): PathShape.SUBSCRIPTIONS,
    (2, ("subscriptions",)): PathShape.SUBSCRIPTION,
    (3, ("subscriptions", "resourcegroups")): PathShape.GROUPS,
    (3, ("subscriptions", "resources")): PathShape.RESOURCES,
    (4, ("subscriptions", "resourcegroups")): PathShape.GROUP,
    (5, ("subscriptions", "resourcegroups", "resources")): PathShape.RESOURCES,
}
_WORDS = {"subscriptions": "subscriptions", "resourcegroups": "resourceGroups", "providers": "providers"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the path of a request names."""

    shape: PathShape
    path: str  # in the case of the request, except for ARM's own words
    key: str  # the same in lower case
    subscription: str = ""
    group: str = ""
    scope: str = ""
    """The part before the last `/providers/`: a group, a subscription, the tenant (""), or the resource that an
    extension resource belongs to.
    """

    namespace: str = ""  # of the provider
    types: tuple[str, ...] = ()  # one more than names for a collection
    names: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        if self.shape in {PathShape.GROUP, PathShape.GROUPS}:
            return GROUP_TYPE
        return "/".join((self.namespace, *self.types))

    @property
    def is_list(self) -> bool:
        """Return whether a GET of it returns a list of resources."""
        if self.shape is PathShape.DIRECTORY:
            return len(self.types) > len(self.names)
        return self.shape in {PathShape.GROUPS, PathShape.RESOURCES, PathShape.COLLECTION}

    @property
    def name(self) -> str:
        return self.names[-1] if self.names else self.path.rpartition("/")[2]

    @property
    def group_path(self) -> str:
        return f"/subscriptions/{self.subscription}/resourceGroups/{self.group}"

    @property
    def parent(self) -> Target | None:
        """The resource that this one is nested in or extends; None for one directly in a group or higher."""
        # The last type of a collection has no name, and so no pair.
        pairs = list(zip(self.types, self.names, strict=False))
        if self.shape is PathShape.RESOURCE:
            pairs = pairs[:-1]
        if pairs:
            return parse(
                "/".join((f"{self.scope}/providers", self.namespace, *(word for pair in pairs for word in pair)))
            )
        ancestor = parse(self.scope) if self.scope else None
        return ancestor if ancestor is not None and ancestor.shape is PathShape.RESOURCE else None

    @property
    def ancestors(self) -> tuple[Target, ...]:
        """Every resource above this one, the outermost first."""
        return tuple(reversed(list(self._iterate_ancestors())))

    def _iterate_ancestors(self) -> Iterator[Target]:
        ancestor = self.parent
        while ancestor is not None:
            yield ancestor
            ancestor = ancestor.parent

    @property
    def owner(self) -> Target:
        """For an action or a collection: the target of its last word."""
        return parse(self.path.rpartition("/")[0])


# A list parses the id of every resource, and most requests name the same few.
@lru_cache(maxsize=8192)
def parse(path: str) -> Target:
    """Read the path of a URL, without the query; a path that ARM does not have gets the shape UNKNOWN."""
    words = [unquote(word) for word in path.split("/") if word]
    if words[:1] == [GRAPH_VERSION]:
        return _parse_directory(words)
    # The last one counts: an extension resource is below the provider of the resource that it extends.
    providers_index = max((index for index, word in enumerate(words) if word.casefold() == "providers"), default=None)
    clean_path = _normalize(words)
    subscription, group = _read_scope(words if providers_index is None else words[:providers_index])
    shape = PathShape.PROVIDERS
    if providers_index is None:  # then every second word must be one of ARM's own
        shape = _SHAPES.get((len(words), tuple(word.casefold() for word in words[::2])), PathShape.UNKNOWN)
    target = Target(shape=shape, path=clean_path, key=clean_path.casefold(), subscription=subscription, group=group)
    if providers_index is None or providers_index == len(words) - 1:
        return target
    namespace, types, names = (
        words[providers_index + 1],
        tuple(words[providers_index + 2 :: 2]),
        tuple(words[providers_index + 3 :: 2]),
    )
    target = replace(target, scope=_normalize(words[:providers_index]), namespace=namespace, types=types, names=names)
    if not types:
        return replace(target, shape=PathShape.PROVIDER)
    return replace(target, shape=PathShape.RESOURCE if len(types) == len(names) else PathShape.COLLECTION)


def _parse_directory(words: list[str]) -> Target:
    """Read a Microsoft Graph path, whose ids compare without case as in ARM."""
    path = "/" + "/".join(words)
    types, names = tuple(words[1::2]), tuple(words[2::2])
    return Target(
        shape=PathShape.DIRECTORY, path=path, key=path.casefold(), namespace=GRAPH_NAMESPACE, types=types, names=names
    )


def _read_scope(words: list[str]) -> tuple[str, str]:
    """Read the subscription and the group at the start of the words."""
    if len(words) < 2 or words[0].casefold() != "subscriptions":
        return "", ""
    has_group = len(words) > 3 and words[2].casefold() == "resourcegroups"
    return words[1], words[3] if has_group else ""


def _normalize(words: list[str]) -> str:
    """Return the path with ARM's own words in their usual case; they occur only at even positions."""
    path = ""
    for index, word in enumerate(words):
        lower = word.casefold()
        # At other positions a word such as `resourceGroups` is a chosen name.
        path += f"/{_WORDS.get(lower, word) if index in {0, 2} or lower == 'providers' else word}"
    return path
