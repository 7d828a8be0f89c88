"""All registrations, built in and of other packages, and the chains made of them.

The order of a kind is: extensions of other packages in the order of their entry points' names, then ours. Checks,
classifiers, deleters and importers are chains, the first called with the rest as `next`; a chain ends in the answer
that agrees, ASO's classes, the DELETE of the resource, and the GET of it. Exporters and success handlers have no
`next`: they are called in the same order, each exporter only for the fields that are still missing, and values of an
earlier one are kept. So another package may decide first, and pass the call on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from gitsync.errors import ArmError, ProviderError
from gitsync.extensions.api import (
    ActionCall,
    ActsOnAzure,
    CheckResult,
    Extension,
    Imported,
    LookupRequest,
    LookupResult,
    Modifier,
    NextCheck,
    NextDelete,
    NextImport,
    ReadsAzure,
    Subject,
    proceed,
)
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.extensions.factories.secret_actions import Keys
from gitsync.extensions.factories.state_checks import OwnState
from gitsync.extensions.third_party import load_installed
from gitsync.model.live import Live
from gitsync.model.secret import Secret
from gitsync.planning.status.error_classes import Classification, classify


class Registry:
    """The chains of every kind. Made once, passed to the run."""

    def __init__(self, extensions: Iterable[Extension]) -> None:
        self._by_kind: dict[tuple[str, str], list[Extension]] = {}
        for extension in extensions:
            self._by_kind.setdefault((extension.group, extension.kind), []).append(extension)
        # Each resource of a run needs these, and few kinds have them.
        self._owner_checked = {
            kind for kind, chain in self._by_kind.items() if any(extension.owner_check for extension in chain)
        }
        self._modified = {kind for kind, chain in self._by_kind.items() if any(extension.modify for extension in chain)}

    @classmethod
    def load(cls) -> Registry:
        """Join the extensions of other packages with the built-in ones."""
        return cls((*load_installed(), *BUILT_IN))

    def of(self, subject: Subject) -> list[Extension]:
        return self._by_kind.get(subject.rules_of or (subject.key.group, subject.key.kind), [])

    def checks_owner(self, group: str, kind: str) -> bool:
        """Return whether an extension of this kind wants the owner read."""
        return (group, kind) in self._owner_checked

    def needs_read(self, group: str, kind: str, secrets: Collection[str]) -> bool:
        """Return whether an extension of this kind needs the resource as just read: to check more of it than its state,
        or to export `secrets`.
        """
        extensions = self._by_kind.get((group, kind))
        if not extensions:
            return False  # as most
        exporters = (
            [extension.export_secrets for extension in extensions if extension.export_secrets] if secrets else []
        )
        checks = [extension.pre_check for extension in extensions if extension.pre_check]
        return (
            any(extension.post_check or extension.succeeded or extension.foreseen for extension in extensions)
            or not all(isinstance(check, OwnState) for check in checks)
            # The exporter of another package may need it for any secret.
            or any(not isinstance(export, Keys) or export.reads_resource(secrets) for export in exporters)
        )

    def allows_listed(self, group: str, kind: str, entry: Live) -> bool:
        """Return whether the entry of a list shows what the pre-checks of this kind need."""
        checks = (extension.pre_check for extension in self._by_kind.get((group, kind), []))
        # Any other check may look at more than a state, and the entry of a list may lack that.
        return all(isinstance(check, OwnState) and check.allows_listed(entry) for check in checks if check)

    def modifies(self, group: str, kind: str) -> bool:
        """Return whether an extension of this kind may change the body, before it is compared or when it is sent."""
        return (group, kind) in self._modified

    def alters_comparison(self, group: str, kind: str) -> bool:
        """Return whether an extension of this kind changes the body that is compared."""
        modifiers = (extension.modify for extension in self._by_kind.get((group, kind), []))
        return any(isinstance(modifier, Modifier) and modifier.compared for modifier in modifiers)

    def list_export_actions(self, group: str, kind: str, secrets: Collection[str]) -> tuple[str, ...]:
        """The paths below a resource to which a POST is sent to export `secrets`, as far as tables tell."""
        exporters = (extension.export_secrets for extension in self._by_kind.get((group, kind), []))
        return tuple(
            path for exporter in exporters if isinstance(exporter, Keys) for path in exporter.list_actions(secrets)
        )

    def list_called(self, group: str, kind: str, points: Collection[str]) -> list[str]:
        """The Azure actions that the extensions of a kind declare for some of their points."""
        chain = self._by_kind.get((group, kind), [])
        return [action for extension in chain for point, action in extension.calls if point in points]

    def list_calls(self, subject: Subject) -> list[tuple[str, str]]:
        """The requests for other things that it may take to send a body: each path with `read`, or `action` for a POST.
        `subject` has no live resource: the requests for that case count, and those if it exists.
        """
        # Which lookups are needed may depend on whether the resource exists, which is not known yet.
        existing = replace(subject, live=Live(body={}))
        lookups = dict.fromkeys((*self.lookups(subject), *self.lookups(existing)))
        answers: dict[LookupRequest, LookupResult] = {
            request: () if request.lists else Live(body={}) for request in lookups
        }
        calls = self.first_calls(replace(subject, answers=answers))
        return [*((request.path, "read") for request in lookups), *((call.path, "action") for call in calls)]

    async def owner_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _make_chain([e.owner_check for e in self.of(subject) if e.owner_check])(subject, azure)

    async def pre_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _make_chain([e.pre_check for e in self.of(subject) if e.pre_check])(subject, azure)

    async def post_check(self, subject: Subject, azure: ReadsAzure) -> CheckResult:
        return await _make_chain([e.post_check for e in self.of(subject) if e.post_check])(subject, azure)

    def classify(self, error: ProviderError, key: tuple[str, str]) -> Classification:
        """The class of a refusal for a (group, kind). Extensions know those of ARM."""
        # The codes of other providers mean something else, and extensions know those of ARM.
        if not isinstance(error, ArmError):
            return classify(error)
        chain: Callable[[ArmError], Classification] = classify
        # In reverse, so that the first extension is the outermost: it decides, or calls the rest.
        for extension in reversed(self._by_kind.get(key, [])):
            if extension.classify:
                chain = partial(extension.classify, next=chain)
        return chain(error)

    def lookups(self, subject: Subject) -> tuple[LookupRequest, ...]:
        """The lookups that are needed before the body can be compared."""
        request_functions = [modifier.asks for modifier in self._list_modifiers(subject) if modifier.asks]
        return tuple(dict.fromkeys(lookup for request in request_functions for lookup in request(subject)))

    def compared(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """Return the body as it is compared and remembered."""
        for modifier in self._list_modifiers(subject):
            body = modifier.compared(body, subject) if modifier.compared else body
        return body

    def describe_calls(self, subject: Subject) -> str:
        """Additional text in a plan for sending the body."""
        sentences = [modifier.foretells(subject) for modifier in self._list_modifiers(subject) if modifier.foretells]
        return " ".join(filter(None, sentences))

    def first_calls(self, subject: Subject) -> tuple[ActionCall, ...]:
        """The actions to call, and to wait for, before the body is sent."""
        calls = [modifier.first(subject) for modifier in self._list_modifiers(subject) if modifier.first]
        return tuple(call for call in calls if call)

    def restores(self, subject: Subject) -> bool:
        """Return whether sending the body restores a former state, instead of applying the body."""
        return any(modifier.restores(subject) for modifier in self._list_modifiers(subject) if modifier.restores)

    def modified(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """Return the body to send, after every modifier of the kind."""
        for modifier in self._list_modifiers(subject):
            body = modifier.sent(body, subject) if modifier.sent else body
        return body

    def _list_modifiers(self, subject: Subject) -> list[Modifier]:
        """Body modifiers of the kind; one that is only a function alters what is sent."""
        modifiers = [extension.modify for extension in self.of(subject) if extension.modify]
        return [modifier if isinstance(modifier, Modifier) else Modifier(sent=modifier) for modifier in modifiers]

    def deletes_besides(self, key: tuple[str, str]) -> str:
        """Additional effects of deleting a resource of a (group, kind), for a plan; "" for none."""
        return " ".join(
            extension.deletes_besides for extension in self._by_kind.get(key, []) if extension.deletes_besides
        )

    async def delete(self, subject: Subject, azure: ActsOnAzure, last: NextDelete) -> None:
        """Delete a resource as its kind wants it; `last` sends the DELETE of the resource itself."""
        chain = last
        for extension in reversed(self.of(subject)):
            if extension.delete:
                chain = partial(extension.delete, next=chain)
        await chain(subject, azure)

    async def import_(self, subject: Subject, load: NextImport) -> tuple[Subject, Imported]:
        """Return whether a manifest is made of a resource, and return the resource as read; `load` reads it."""
        chain = load
        for extension in reversed(self.of(subject)):
            if extension.importer:
                chain = partial(extension.importer, next=chain)
        return await chain(subject)

    async def export_secrets(
        self, subject: Subject, azure: ActsOnAzure, wanted: frozenset[str]
    ) -> Mapping[str, Secret]:
        """Return the wanted secrets by field, without unknown ones."""
        secrets: dict[str, Secret] = {}
        for export in (e.export_secrets for e in self.of(subject) if e.export_secrets):
            if missing := wanted - secrets.keys():
                # An earlier exporter wins, so another package can replace a built-in value.
                secrets = {**await export(subject, azure, missing), **secrets}
        return {field: secrets[field] for field in sorted(wanted & secrets.keys())}

    async def export_config_maps(
        self, subject: Subject, azure: ReadsAzure, wanted: frozenset[str]
    ) -> Mapping[str, str]:
        """Return the wanted values of config maps by field, without unknown ones."""
        values: dict[str, str] = {}
        for export in (e.export_config_maps for e in self.of(subject) if e.export_config_maps):
            if missing := wanted - values.keys():
                values = {**await export(subject, azure, missing), **values}
        return {field: values[field] for field in sorted(wanted & values.keys())}

    async def succeeded(self, subject: Subject, azure: ActsOnAzure) -> Mapping[str, str]:
        """Call every success handler of the kind; returns the annotations of all of them."""
        annotations: dict[str, str] = {}
        for handler in (e.succeeded for e in self.of(subject) if e.succeeded):
            annotations = {**await handler(subject, azure), **annotations}
        return annotations

    def foreseen(self, subject: Subject) -> Mapping[str, str]:
        """The same for a plan, as far as it follows from the read resource."""
        annotations: dict[str, str] = {}
        for foresee in (e.foreseen for e in self.of(subject) if e.foreseen):
            annotations = {**foresee(subject), **annotations}
        return annotations


def _make_chain(checks: list[Any]) -> NextCheck:
    async def last(_subject: Subject, _azure: ReadsAzure) -> CheckResult:
        return proceed()

    chain: NextCheck = last
    for check in reversed(checks):
        chain = partial(check, next=chain)
    return chain
