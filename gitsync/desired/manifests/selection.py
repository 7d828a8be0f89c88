"""The resources that a run covers: all, those of some namespaces, or those that --only names.

People type names in full, without the unambiguous parts, or abbreviated. Every command that takes the name of a
resource uses `find_key`, so that a name means the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from gitsync.desired.catalog.everyday_names import find_by_everyday_name
from gitsync.desired.manifests.named_namespaces import find_named_namespaces
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared
from gitsync.settings.config.config import Config


@dataclass(frozen=True, slots=True)
class Selection:
    """The resources that a run is restricted to."""

    only: tuple[str, ...] = ()
    """`Kind.group/namespace/name`, `Kind/name`, or a pattern of either with * and ?; other names are expanded first
    (`spell_out`); empty means all.
    """

    namespaces: tuple[str, ...] = ()  # empty means all
    keys: frozenset[Key] | None = None  # those of a shard, None without shards

    def has(self, key: Key) -> bool:
        """Return whether the run covers a resource."""
        if self.keys is not None and key not in self.keys:
            return False
        if self.namespaces and key.namespace not in self.namespaces:
            return False
        if not self.only:
            return True
        spellings = (str(key), f"{key.kind}/{key.name}")
        return any(fnmatchcase(text, pattern) for pattern in self.only for text in spellings)


def make_selection(config: Config) -> Selection:
    """Make the selection from the settings."""
    return Selection(only=config.only, namespaces=config.target_namespaces)


def list_named(only: Iterable[str]) -> frozenset[str]:
    """List the names of --only that name one resource each, without patterns."""
    return frozenset(name for name in only if _WILDCARDS.isdisjoint(name))


EVERYTHING: Final = Selection()

_WILDCARDS: Final = frozenset("*?[")


def select_namespaces(manifests: Manifests, namespaces: Collection[str]) -> Manifests:
    """Return the manifests with the resources of other namespaces in `elsewhere`. No namespaces means all.

    This comes before validation: references stay in a namespace, and each namespace may be in another subscription.
    Namespaces that expressions name stay too: their resources are watched (`select_prepared`).
    """
    if not namespaces:
        return manifests
    read = {*namespaces, *find_named_namespaces(manifests.resources, namespaces)}
    selected = tuple(resource for resource in manifests.resources if resource.key.namespace in read)
    # A namespace that expressions name is in both: it is read for values, and is still outside of the run.
    others = tuple(resource for resource in manifests.resources if resource.key.namespace not in namespaces)
    return replace(manifests, resources=selected, elsewhere=others)


def check_namespaces(
    wanted: Collection[str],
    revisions: Iterable[Manifests] = (),
    problems: Iterable[Problem] = (),
    records: Iterable[Key] = (),
) -> None:
    """Check that each namespace of --target-namespaces has a resource or a record in one of the revisions. `problems`
    are those of the sources.

    Raises ConfigError for an unknown namespace, with the nearest one. Nothing is raised if a file cannot be read, since
    it may be in any namespace, or for an empty source.
    """
    if not wanted:
        return
    known = {key.namespace for key in records}
    problems = [*problems]
    for manifests in revisions:
        known.update(resource.key.namespace for resource in (*manifests.resources, *manifests.elsewhere))
        known.update(manifests.namespaces)
        problems += manifests.problems
    unknown = next((name for name in wanted if name not in known), None)
    # The namespace may be in a file that cannot be read, so nothing proves that it is misspelt.
    if unknown is None or not known or any(problem.is_error for problem in problems):
        return
    near = get_close_matches(unknown, sorted(known), n=1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise ConfigError(f"Namespace {unknown} has no resources.{guess}", hint=f"Use one of: {_join(sorted(known))}.")


def select_prepared(prepared: Sequence[Prepared], selection: Selection) -> tuple[Prepared, ...]:
    """Return the selected resources, and their dependencies as watched ones.

    A watched resource has policy skip and waits for nothing. Its exports are read for the others, but not written.
    """
    selected = [resource for resource in prepared if selection.has(resource.key)]
    # A dependency that is not selected is read, since its id or its exports are needed.
    needed_keys = {key for resource in selected for key in resource.relations.depends_on}
    watched = (resource for resource in prepared if resource.key in needed_keys and not selection.has(resource.key))
    return (*selected, *map(_watch, watched))


def _watch(prepared: Prepared) -> Prepared:
    # Its own dependencies are outside of the run, so waiting for them would never end.
    return replace(prepared, policy=Policy.SKIP, relations=replace(prepared.relations, depends_on=()), is_watched=True)


def spell_out(selection: Selection, keys: Iterable[Key]) -> Selection:
    """Return the selection with the names of --only in full.

    Raises ConfigError for a name that no resource has, or that matches several.
    """
    selected = [key for key in keys if not selection.namespaces or key.namespace in selection.namespaces]
    return replace(selection, only=tuple(_spell_name(name, selected) for name in selection.only))


def spell_selection(config: Config, keys: Iterable[Key]) -> Config:
    """Return the settings with the names of --only in full. Raises ConfigError as `spell_out` does."""
    return replace(config, only=spell_out(make_selection(config), keys).only) if config.only else config


def _spell_name(name: str, keys: Sequence[Key]) -> str:
    if any(map(Selection(only=(name,)).has, keys)):
        return name  # a name in full, in any number of namespaces, or a pattern
    matches = () if _WILDCARDS.intersection(name) else find_keys(name, keys)
    if not matches:
        raise make_unknown_error(name, keys, hint="Use Kind/name, or a pattern with * and ?.")
    if len(matches) > 1:
        raise make_ambiguous_error(name, matches)
    return str(matches[0])


FORMS = "Kind/name, Kind/namespace/name or Kind.group/namespace/name"

KindRule = Callable[[str, Key], bool]
"""Whether a text names the kind of a key."""

_MOST_LISTED = 5


def find_keys(text: str, keys: Iterable[Key]) -> tuple[Key, ...]:
    """Find the keys that a name can mean, sorted.

    Kinds are compared without case. The group, the namespace and the kind may be left out; the kind may also be an
    everyday name such as `vnet`. The end of the kind and of the name may be left out too, if no key matches a longer
    form.
    """
    ordered = sorted(set(keys))
    # The first rule with a match decides: longer names never make an exact name ambiguous.
    return next((matches for fits in _list_rules(text) if (matches := tuple(filter(fits, ordered)))), ())


def find_key(text: str, keys: Collection[Key]) -> Key:
    """Find the key that a name means. Raises ConfigError if there is none, with the nearest name, or if there are
    several.
    """
    matches = find_keys(text, keys)
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise make_ambiguous_error(text, matches)
    raise make_unknown_error(text, keys)


def list_keys_of_kind(text: str, keys: Iterable[Key]) -> tuple[Key, ...]:
    """List the keys of the kind that a text names, sorted; the end of the kind may be left out. Raises ConfigError for
    several kinds.
    """
    ordered = sorted(set(keys))
    matches = next(
        (matches for fits in _KIND_RULES if (matches := tuple(key for key in ordered if fits(text, key)))), ()
    )
    kinds = sorted({f"{key.kind}.{key.group}" for key in matches})
    if len(kinds) > 1:
        raise ConfigError(f"{text} matches several kinds.", hint=f"Use one of: {_join(kinds)}.")
    return matches


def make_unknown_error(text: str, keys: Iterable[Key], *, hint: str = f"Use {FORMS}.") -> ConfigError:
    """Make the error for a name that no key has, with the nearest one."""
    ordered = sorted(set(keys))
    kinds = (_names_kind, _has_everyday_name)
    if of_kind := next((same for fits in kinds if (same := [key for key in ordered if fits(text, key)])), None):
        names = [f"{key.kind}/{key.name}" for key in of_kind[:_MOST_LISTED]]
        return ConfigError(
            f"{text} is a kind, not the name of a resource.", hint=f"Use {', '.join(names)} or {of_kind[0].kind}/*."
        )
    # A text with a slash is meant as a resource, without one as a part of its name.
    spellings: dict[str, str] = {}
    for key in ordered:
        name = f"{key.kind}/{key.name}"
        own = {name: name, str(key): str(key)} if "/" in text else {key.name: key.name, key.kind: name}
        for spelling, shown in own.items():
            spellings.setdefault(spelling.casefold(), shown)
    near = get_close_matches(text.casefold(), sorted(spellings), n=1)
    guess = f" Did you mean {spellings[near[0]]}?" if near else ""
    return ConfigError(f"No resource is called {text}.{guess}", hint=hint)


def make_ambiguous_error(text: str, matches: Collection[Key]) -> ConfigError:
    """Make the error for a name that several keys have, with the first of them."""
    return ConfigError(f"{text} matches several resources.", hint=f"Use one of: {_join(list(map(str, matches)))}.")


def _join(names: list[str]) -> str:
    more = len(names) - _MOST_LISTED
    return f"{', '.join(names[:_MOST_LISTED])}{f', or {more} more' if more > 0 else ''}"


def _list_rules(text: str) -> tuple[Callable[[Key], bool], ...]:
    """List the rules for matching a name with a key, the strictest first."""
    kind, *names = text.split("/")
    if not names:
        return (lambda key: key.name == text, lambda key: key.name.startswith(text))
    namespaces, name = names[:-1], names[-1]
    if not (kind and name):  # `/name` and `Kind/`: an empty text would match every name
        return ()

    def is_there(key: Key) -> bool:
        return namespaces in ([], [key.namespace])

    def is_named(names_kind: KindRule, has_name: Callable[[str], bool], key: Key) -> bool:
        return has_name(key.name) and is_there(key) and names_kind(kind, key)

    spellings = (name.__eq__, lambda other: other.startswith(name))
    return tuple(partial(is_named, rule, has_name) for rule in _KIND_RULES for has_name in spellings)


def _names_kind(text: str, key: Key) -> bool:
    """Return whether a text is the kind of a key, also in the plural, as in kubectl."""
    return text.casefold() in {
        word.casefold() for kind in (key.kind, _pluralize(key.kind)) for word in (kind, f"{kind}.{key.group}")
    }


def _pluralize(kind: str) -> str:
    if kind.endswith("y") and kind[-2:-1] not in "aeiou":
        return f"{kind[:-1]}ies"
    return f"{kind}es" if kind.endswith(("s", "x", "ch", "sh")) else f"{kind}s"


def _abbreviates_kind(text: str, key: Key) -> bool:
    # Every kind begins with an empty text.
    return bool(text) and f"{key.kind}.{key.group}".casefold().startswith(text.casefold())


def _has_everyday_name(text: str, key: Key) -> bool:
    return find_by_everyday_name(text) == (key.group, key.kind)


_KIND_RULES = (_names_kind, _has_everyday_name, _abbreviates_kind)
"""The ways to name the kind of a key: the first rule with a match counts."""
