"""The blocks of one resource: its `azapi_resource`, with the parts of the request where azapi wants them, and its
`import`.

An import fills the state with what Azure returns. A plan is then silent if that has all that the body has, and if each
argument has the value that an import assumes (docs/decisions/terraform.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.catalog.body_paths import OWN_NAMES, is_spelled_exactly, list_read_only
from gitsync.desired.catalog.children import list_embedding
from gitsync.desired.problems.field_path import find_member, format_field
from gitsync.desired.request.exports import find_addresses
from gitsync.desired.validation.annotations import UPDATE_METHOD
from gitsync.desired.validation.arm_body import check_body
from gitsync.desired.validation.arm_body_findings import list_faults
from gitsync.model.export import ObjectKind
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared
from gitsync.workflows.exports.terraform.block_references import RESOURCE, BlockReferences
from gitsync.workflows.exports.terraform.data_blocks import DataBlocks
from gitsync.workflows.exports.terraform.filled_requests import CannotExportError, FilledRequest
from gitsync.workflows.exports.terraform.flowing_values import (
    OWN_ATTRIBUTES,
    AttributeValue,
    OutputValue,
    Variable,
    VariableValue,
)
from gitsync.workflows.exports.terraform.hcl import (
    Expression,
    HclBlock,
    Interpolation,
    SensitiveExpression,
    Value,
    find_inexpressible,
    format_path,
    format_value,
)
from gitsync.workflows.exports.terraform.sensitive_parts import BodyParts, split_body

_IDENTITY_TYPES: Final[Mapping[str, str]] = {
    "none": "None",
    "systemassigned": "SystemAssigned",
    "userassigned": "UserAssigned",
    "systemassigned,userassigned": "SystemAssigned, UserAssigned",
    "userassigned,systemassigned": "SystemAssigned, UserAssigned",
}
"""Types of identities as azapi spells them, by their spelling without case and blanks."""

_OF_URLS: Final = re.compile(r"[%?#]")
_STEP: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPEN: Final = ("location", "tags")
_ARGUMENTS: Final = (*_OPEN, "identity")
"""Members of a body that azapi has as arguments, or as a block."""

_VALIDATION: Final = "schema_validation_enabled"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBlocks:
    """The blocks of a resource, and what somebody has to know of them."""

    request: FilledRequest

    name: str  # of the block
    resource: HclBlock
    imported: HclBlock
    variables: tuple[Variable, ...]  # those that it needs
    reads: frozenset[str]  # the addresses of blocks from which it has values that Azure sets
    changes: tuple[str, ...]  # why the first plan changes it
    notes: tuple[str, ...]  # what gitsync does and Terraform does not

    @property
    def prepared(self) -> Prepared:
        return self.request.prepared

    @property
    def address(self) -> str:
        return f"{RESOURCE}.{self.name}"


@dataclass(slots=True, kw_only=True)
class BlockMaker:
    """Makes the blocks of one resource."""

    request: FilledRequest

    name: str  # of its block
    references: BlockReferences
    data: DataBlocks
    variable_names: Mapping[Variable, str]  # of all that any block may need
    used: dict[Variable, None] = field(default_factory=dict)  # the variables that the block needs, in order

    reads: set[str] = field(default_factory=set)  # as in ResourceBlocks
    notes: list[str] = field(default_factory=list)  # as in ResourceBlocks

    def make(self) -> ResourceBlocks:
        """Raises CannotExportError if Terraform cannot have the resource as git has it."""
        self._check_values()
        others = {*_ARGUMENTS, *OWN_NAMES}
        body = {name: value for name, value in self.request.body.items() if name.casefold() not in others}
        parts = split_body(self._express(body))
        kept = tuple(self._keep_children(parts.plain))
        validates = not self._has_findings()
        arguments = self._make_arguments(parts, validates=validates)
        identity = tuple(self._make_identity(self._find_argument("identity")))
        # The last, since it lists what nothing above refers to.
        arguments["depends_on"] = self.references.list_unused(self.request.prepared) or None
        lifecycle = self._make_lifecycle((*self._list_ignored(body), *kept), validates=validates)
        resource = HclBlock(
            type="resource",
            labels=(RESOURCE, self.name),
            arguments={name: value for name, value in arguments.items() if value is not None},
            blocks=(*identity, *lifecycle),
            comment=self._describe(),
        )
        return ResourceBlocks(
            request=self.request,
            name=self.name,
            resource=resource,
            imported=self._make_import(),
            variables=tuple(self.used),
            reads=frozenset(self.reads),
            changes=tuple(self._list_changes(parts.sensitive)),
            notes=(*_list_differences(self.request.prepared), *self.notes),
        )

    def _make_arguments(self, parts: BodyParts, *, validates: bool) -> dict[str, Value]:
        """Make the arguments, in the usual order; None for one that is not written."""
        return {
            "type": f"{self.request.arm_id.arm_type}@{self.request.api_version}",
            "name": self.request.arm_id.name,
            "parent_id": self._find_parent(),
            "location": self._express_openly("location"),
            "tags": self._express_openly("tags") or None,  # an import of no tags has none
            "body": parts.plain or None,
            "sensitive_body": parts.sensitive or None,
            _VALIDATION: None if validates else False,
        }

    def _find_argument(self, name: str) -> Any:
        """Find a member of the body, in any case: ARM has no case."""
        return next((value for key, value in self.request.body.items() if key.casefold() == name), None)

    def _check_values(self) -> None:
        found = find_inexpressible(self.request.body)
        if found is None and (found := find_inexpressible(str(self.request.arm_id))):
            raise CannotExportError(f"its ARM id cannot be written: {found[1]}")
        if found is not None:
            raise CannotExportError(f"{format_field(found[0])} cannot be written: {found[1]}")

    def _describe(self) -> str:
        prepared = self.request.prepared
        return f"{prepared.key.kind} {prepared.key.namespace}/{prepared.key.name} ({prepared.resource.source.path})"

    def _find_parent(self) -> Value:
        parent = self.request.arm_id.parent
        return self.references.express(parent, self.request.prepared.key) if parent else "/"

    def _make_import(self) -> HclBlock:
        # azapi reads it as a URL.
        escaped = _OF_URLS.sub(lambda found: f"%{ord(found.group()):02X}", self.request.arm_id)
        target = Expression(f"{RESOURCE}.{self.name}")
        return HclBlock(
            type="import", arguments={"to": target, "id": f"{escaped}?api-version={self.request.api_version}"}
        )

    def _express(self, value: Any) -> Value:
        """Return a value with expressions in place of its placeholders and of the ids of blocks."""
        if isinstance(value, dict):
            # ASO sends null for some members that a manifest does not have, and azapi would compare it.
            return {key: self._express(member) for key, member in value.items() if member is not None}
        if isinstance(value, list):
            return [self._express(entry) for entry in value]
        if isinstance(value, AttributeValue):
            return self._express_attribute(value) or self._use_variable(value.variable)
        if isinstance(value, VariableValue):
            return self._use_variable(value.variable)
        return self.references.express(value, self.request.prepared.key) if isinstance(value, str) else value

    def _express_attribute(self, value: AttributeValue) -> Value:
        parts = [part if isinstance(part, str) else self._express_output(part) for part in value.parts]
        known = tuple(part for part in parts if part is not None)
        if len(known) < len(parts):
            return None
        return known[0] if len(known) == 1 else Interpolation(known)

    def _express_output(self, output: OutputValue) -> Expression | None:
        """Return the expression of a value of another resource; None if it would be a cycle."""
        key, arm_id = output.source.key, output.source.arm_id
        address = self.references.refer(key, self.request.prepared.key)
        if address is None:
            return None if self.references.has(key) else self.data.read(output, str(arm_id))
        if output.path in OWN_ATTRIBUTES:
            return Expression(format_path(address, output.path))
        self.reads.add(address)
        if output.is_in_output:
            return Expression(format_path(f"{address}.output", output.path))
        return self.data.read(output, Expression(f"{address}.id"))

    def _use_variable(self, variable: Variable) -> Expression:
        self.used[variable] = None
        text = f"var.{self.variable_names[variable]}"
        return SensitiveExpression(text) if variable.is_secret else Expression(text)

    def _express_openly(self, name: str) -> Value:
        """Express a member of the body that azapi shows."""
        expressed = self._express(self._find_argument(name))
        # azapi shows these arguments in plans, and keeps them in the state.
        if split_body({name: expressed}).sensitive:
            raise CannotExportError(f"{name} has a secret, which azapi takes in a body only")
        return expressed

    def _make_identity(self, value: Any) -> Iterator[HclBlock]:
        if value is None:
            return
        members = self._express_openly("identity")
        type_, assigned = find_member(value, "type"), find_member(value, "userAssignedIdentities")
        known = _IDENTITY_TYPES.get(type_.replace(" ", "").casefold()) if isinstance(type_, str) else None
        others = set(members) - {"type", "userAssignedIdentities"} if isinstance(members, dict) else {"identity"}
        if known is None or others or not isinstance(assigned, dict | None):
            raise CannotExportError(
                "identity has more than a type and user-assigned identities, which azapi cannot have"
            )
        # To ARM, null takes an identity away.
        ids = [self._express(arm_id) for arm_id, details in (assigned or {}).items() if details is not None]
        # An import has an empty list, and not none.
        yield HclBlock(type="identity", arguments={"type": known, "identity_ids": ids})

    def _has_findings(self) -> bool:
        """Return whether azapi's validation may refuse the body: its types are those of Bicep, as gitsync's are, and it
        compares words exactly.
        """
        arm_id, body_type = self.request.arm_id, self.request.body_type
        if body_type is None:
            return True
        members = {key: value for key, value in self.request.body.items() if key.casefold() not in OWN_NAMES}
        if check_body(members, arm_id.arm_type, self.request.api_version, name=arm_id.name):
            return True
        if any(list_read_only(members, body_type, name=arm_id.name)):  # also those that the type requires
            return True
        name = body_type.find_member("name")  # gitsync leaves its form to Azure
        is_named = name is None or (
            not list_faults(arm_id.name, name.type) and is_spelled_exactly(arm_id.name, name.type)
        )
        return not (is_named and is_spelled_exactly(members, body_type, name=arm_id.name))

    def _keep_children(self, body: dict[str, Value]) -> Iterator[Expression]:
        """List what is ignored so that children which Azure embeds stay: a request without their list deletes them. To
        ignore a list means to send it as the state has it, and what the body lacks cannot be ignored: so it gets an
        empty list. One that the body has is ignored if an entry has a block of its own, which the list would delete.
        """
        embedding = sorted(list_embedding(self.request.arm_id.arm_type))
        declared = self.references.list_embedded(self.request.arm_id) if embedding else set()
        for path in embedding:
            field_path = path.split("/")
            *above, member = field_path
            parent = find_member(body, *above)
            if above == ["properties"] and parent is None:
                parent = body.setdefault("properties", {})
            if isinstance(parent, dict) and member not in parent:
                parent[member] = []
                yield Expression(format_path("body", field_path))
            elif path in declared:
                yield Expression(format_path("body", field_path))
                self.notes.append(f"changes to {format_field(field_path)} are not sent: its entries have blocks too")

    def _make_lifecycle(self, changes: Iterable[Expression], *, validates: bool) -> Iterator[HclBlock]:
        # An import assumes that azapi validates.
        ignored = [*changes, *([] if validates else [Expression(_VALIDATION)])]
        # Terraform has no way to only forget a resource on destroy, so the destroy is refused.
        detaches = self.request.prepared.policy is Policy.DETACH_ON_DELETE
        arguments = {"prevent_destroy": True if detaches else None, "ignore_changes": ignored or None}
        given = {name: value for name, value in arguments.items() if value is not None}
        if given:
            yield HclBlock(type="lifecycle", arguments=given)

    def _list_ignored(self, body: Mapping[str, Any]) -> Iterator[Expression]:
        for path in self.request.prepared.ignored:
            if path[0] in _OPEN and "*" not in "".join(path):  # azapi compares all tags
                yield Expression(path[0] + "".join(f"[{format_value(step)}]" for step in path[1:]))
            elif path[0] not in _OPEN and all(map(_STEP.fullmatch, path)):
                if find_member(dict(body), *path) is not None:  # azapi ignores what the body does not have
                    yield Expression(format_path("body", path))
            else:
                self.notes.append(f"gitsync ignores {format_field(path)}, and ignore_changes cannot name it")

    def _list_changes(self, sensitive: Mapping[str, Value]) -> Iterator[str]:
        if sensitive:
            yield "secrets, which an imported state does not have"
        if self.request.unread:
            yield f"{', '.join(self.request.unread)}, which Azure may not return"


def _list_differences(prepared: Prepared) -> Iterator[str]:
    """List what gitsync does for a resource and no block can."""
    if prepared.credential:
        yield f"gitsync signs in for it with Secret {prepared.key.namespace}/{prepared.credential}"
    if prepared.hold:
        yield f"gitsync holds it until {prepared.hold.day}, and an apply writes it"
    if prepared.resource.annotations.get(UPDATE_METHOD) == "patch":
        yield "gitsync sends a PATCH of what differs, and azapi a PUT, which resets what the body lacks"
    addresses = (address for address, _ in find_addresses(prepared.resource))
    names = {address.name for address in addresses if address.object_kind is ObjectKind.SECRET}
    yield from (f"gitsync exports its values to Secret {name}, and Terraform does not" for name in sorted(names))
