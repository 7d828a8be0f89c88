"""The request of a resource as Terraform gets it: every secret, and every value from elsewhere, is a placeholder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import PathFacts, find_facts
from gitsync.desired.catalog.body_types import BodyType
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.request.placeholders import render
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.resource import Prepared
from gitsync.model.secret import Secret
from gitsync.workflows.exports.terraform.flowing_values import AttributeValue, FlowingValues, Variable, VariableValue


class CannotExportError(Exception):
    """A resource has no block. The text is the reason."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FilledRequest:
    """A request with a placeholder in place of each value that git does not have, and of each secret."""

    prepared: Prepared

    arm_id: ArmId
    api_version: str  # ARM's
    body: dict[str, Any]  # JSON, with placeholders anywhere in it
    unread: tuple[str, ...]  # the fields that Azure does not return, without secrets

    @cached_property
    def body_type(self) -> BodyType | None:
        """The type of the body; None if the facts do not have it."""
        return open_arm_types().find_body(self.arm_id.arm_type, self.api_version)


def fill_request(prepared: Prepared, values: FlowingValues) -> FilledRequest:
    """Fill the request of a resource. Raises CannotExportError if a value that makes an ARM id is not known."""
    try:
        request = render(prepared, values, keeps_secrets=True).request
    except MissingValueError as error:
        raise CannotExportError(f"{error.message}.") from error
    # A placeholder in an id would be written as if it were a name.
    if request is None or "<" in request.arm_id:
        raise CannotExportError("its ARM id is known in a run only")
    body_type = open_arm_types().find_body(request.arm_id.arm_type, request.api_version)
    hiding = _Hiding(prepared, body_type, [])
    body = hiding.hide(dict(request.body), ())
    return FilledRequest(
        prepared=prepared,
        arm_id=request.arm_id,
        api_version=request.api_version,
        body=body,
        unread=tuple(hiding.unread),
    )


@dataclass
class _Hiding:
    """Puts variables in place of the secrets that a manifest has itself."""

    prepared: Prepared
    body_type: BodyType | None
    unread: list[str]

    def hide(self, value: Any, path: JsonPath) -> Any:
        if isinstance(value, Mapping):
            return {key: self.hide(member, (*path, key)) for key, member in value.items()}
        if isinstance(value, list):
            return [self.hide(entry, (*path, index)) for index, entry in enumerate(value)]
        if isinstance(value, VariableValue | AttributeValue):
            return value
        if isinstance(value, Secret):
            return self._make_variable(path)
        return self._hide_plain(value, path)

    def _hide_plain(self, value: Any, path: JsonPath) -> Any:
        facts = find_facts(self.body_type, path) if self.body_type and path else None
        if isinstance(value, str) and _is_secret(facts, path):
            return self._make_variable(path)
        if facts is not None and facts.is_withheld and value is not None:
            self.unread.append(format_field(path))
        return value

    def _make_variable(self, path: JsonPath) -> VariableValue:
        key, steps = self.prepared.key, tuple(map(str, path))
        origin = f"{key.kind} {key.namespace}/{key.name}, {format_field(path)}"
        return VariableValue(Variable(key.namespace, (key.name, steps[-1]), origin, is_secret=True))


def _is_secret(facts: PathFacts | None, path: JsonPath) -> bool:
    """Return whether a text is a secret: by the facts, or by its name, that of the list that has it, or, if Azure does
    not return it, that of any object around it.
    """
    if facts is not None and facts.is_withheld:
        return any(type_.is_sensitive for type_ in facts.types) or any(is_secret_name(str(step)) for step in path)
    name = next((step for step in reversed(path) if isinstance(step, str)), "")
    return is_secret_name(name) and not (facts is not None and facts.has_no_case)


def list_placeholders(value: Any) -> Iterator[VariableValue | AttributeValue]:
    """List the placeholders of a filled body, in order."""
    if isinstance(value, VariableValue | AttributeValue):
        yield value
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for member in members:
        yield from list_placeholders(member)
