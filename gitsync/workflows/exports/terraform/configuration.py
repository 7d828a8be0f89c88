"""Terraform's configuration of manifests: which resources it has, and in which files.

Nothing is left out in silence: each resource has a block or a reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.type_words import PROVIDER_NAMES
from gitsync.desired.request.arm_id_builder import ConfigMaps
from gitsync.model.arm_id import GROUP_TYPE, ArmId, IdKey
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.provider import Provider
from gitsync.model.resource import Prepared
from gitsync.workflows.exports.terraform.block_names import (
    RESERVED,
    NamedParts,
    choose_names,
    clean_name,
    describe_resource,
)
from gitsync.workflows.exports.terraform.block_references import BlockReferences
from gitsync.workflows.exports.terraform.data_blocks import DataBlocks
from gitsync.workflows.exports.terraform.filled_requests import (
    CannotExportError,
    FilledRequest,
    fill_request,
    list_placeholders,
)
from gitsync.workflows.exports.terraform.flowing_values import AttributeValue, FlowingValues, Variable
from gitsync.workflows.exports.terraform.hcl import Expression, HclBlock, format_file
from gitsync.workflows.exports.terraform.resource_blocks import BlockMaker, ResourceBlocks

DATA: Final = "data.tf"
IMPORTS: Final = "imports.tf"
PROVIDERS: Final = "providers.tf"
VARIABLES: Final = "variables.tf"

INVALID: Final = "its manifest has errors: run gitsync validate"

_HEADER: Final = "Written by gitsync export terraform."
_VERSIONS: Final = {"required_version": ">= 1.11", "azapi": ">= 2.12"}
"""Write-only arguments came with 1.11; the rest was seen with this azapi."""


class ManifestSet(NamedTuple):
    """Manifests without a conflict between units: all of them, and the ConfigMaps among them."""

    prepared: Sequence[Prepared]
    config_maps: ConfigMaps


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A resource without a block."""

    key: Key
    reason: str
    is_error: bool = False  # whether something is wrong with its manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What was exported."""

    files: Mapping[str, bytes]  # by their names
    blocks: tuple[ResourceBlocks, ...]  # in the order of their keys
    left_out: tuple[LeftOut, ...]  # in the order of their keys
    variables: Mapping[Variable, str]  # those that the blocks need, with their names


def make_configuration(sets: Iterable[ManifestSet], selected: Collection[Prepared], catalog: Catalog) -> Configuration:
    """Make the configuration of the resources that are `selected`."""
    everything = list(sets)
    requests, left_out = _fill_all(everything, {id(prepared) for prepared in selected}, catalog)
    made = _make_blocks(requests, len(everything))
    used = {variable: made.variables[variable] for each in made.blocks for variable in each.variables}
    return Configuration(
        files=_make_files(made.blocks, made.data, used),
        blocks=tuple(made.blocks),
        left_out=tuple(sorted((*left_out, *made.refused), key=lambda each: each.key)),
        variables=dict(sorted(used.items(), key=lambda item: item[1])),
    )


class _SharedRequest(NamedTuple):
    """A request, and which sets have its resource: the first has the request, and others may refer to its block."""

    request: FilledRequest
    sets: list[int]


def _fill_all(
    sets: Sequence[ManifestSet], wanted: Collection[int], catalog: Catalog
) -> tuple[list[_SharedRequest], list[LeftOut]]:
    """Fill the requests of the resources that are wanted, by their identity, each ARM id once."""
    taken: dict[IdKey, _SharedRequest] = {}
    left_out: list[LeftOut] = []
    for index, each in enumerate(sets):
        values = FlowingValues(each.prepared, each.config_maps, catalog)
        for prepared in each.prepared:
            shared = taken.get(prepared.arm_id.key) if prepared.arm_id else None
            # Environments share resources, such as a group, and Terraform allows one block for each.
            if shared and shared.request.prepared.key == prepared.key and index not in shared.sets:
                shared.sets.append(index)
            if id(prepared) not in wanted:
                continue
            try:
                request = _fill(prepared, catalog.kind_of(prepared.resource), values)
                shared = taken.setdefault(request.arm_id.key, _SharedRequest(request, [index]))
                _check_sharing(request, shared.request)
            except CannotExportError as error:
                left_out.append(LeftOut(key=prepared.key, reason=str(error), is_error=str(error) == INVALID))
    return list(taken.values()), left_out


def _fill(prepared: Prepared, kind: Kind | None, values: FlowingValues) -> FilledRequest:
    """Fill the request of a resource that Terraform can have. Raises CannotExportError."""
    if not prepared.is_valid:
        raise CannotExportError(INVALID)
    if prepared.provider is not Provider.ARM:
        raise CannotExportError(f"it is in {PROVIDER_NAMES[prepared.provider]}, which azapi does not manage")
    if not prepared.policy.allows_modify:
        raise CannotExportError(_join("its reconcile policy is skip", prepared.policy_reason))
    if prepared.relations.written_by is not None:
        raise CannotExportError(f"{prepared.relations.written_by} writes the same resource")
    if kind is not None and not kind.can_get:
        raise CannotExportError("Azure has no GET of its type, which an import needs")
    if prepared.arm_id is None:
        raise CannotExportError(_join("its ARM id is known in a run only", prepared.id_doubt))
    return fill_request(prepared, values)


def _check_sharing(request: FilledRequest, first: FilledRequest) -> None:
    """Raise CannotExportError for a request that differs from the first one with its ARM id."""
    if request.prepared.key != first.prepared.key:
        raise CannotExportError(f"{first.prepared.key} has the same ARM id")
    if (request.api_version, request.body) != (first.api_version, first.body):
        raise CannotExportError("another environment declares it with other values: export each with --path")


class _Names(NamedTuple):
    """The names of everything, chosen before anything is made."""

    blocks: Sequence[str]  # in the order of the requests
    variables: Mapping[Variable, str]
    data: Mapping[IdKey, str]


def _choose_names(requests: Sequence[FilledRequest]) -> _Names:
    placeholders = [found for request in requests for found in list_placeholders(request.body)]
    variables = sorted({found.variable for found in placeholders})
    parts = (part for found in placeholders if isinstance(found, AttributeValue) for part in found.parts)
    sources = (part.source for part in parts if not isinstance(part, str))
    by_id = {source.arm_id.key: source for source in sources if source.arm_id}
    return _Names(
        blocks=choose_names([describe_resource(request.prepared) for request in requests]),
        variables=dict(zip(variables, choose_names(list(map(_describe, variables)), RESERVED), strict=True)),
        data=dict(zip(by_id, choose_names(list(map(describe_resource, by_id.values()))), strict=True)),
    )


class _Made(NamedTuple):
    """The blocks, and what has none."""

    blocks: list[ResourceBlocks]  # in the order of their keys
    data: list[HclBlock]  # what they read
    refused: list[LeftOut]
    variables: Mapping[Variable, str]  # the names of all that a block may need


def _make_blocks(requests: Sequence[_SharedRequest], sets: int) -> _Made:
    """Make the blocks of all requests. A refused one cannot be referred to, so the others are made again."""
    refused: list[LeftOut] = []
    while True:
        names = _choose_names([request for request, _ in requests])
        references = [_collect_references(requests, names.blocks, index) for index in range(sets)]
        data = DataBlocks(names.data)
        blocks: list[ResourceBlocks] = []
        failed: set[FilledRequest] = set()
        for (request, (first, *_)), name in zip(requests, names.blocks, strict=True):
            maker = BlockMaker(
                request=request, name=name, references=references[first], data=data, variable_names=names.variables
            )
            try:
                blocks.append(maker.make())
            except CannotExportError as error:
                refused.append(LeftOut(key=request.prepared.key, reason=str(error)))
                failed.add(request)
        if not failed:
            ordered = sorted(blocks, key=lambda each: each.prepared.key)
            return _Made(ordered, list(data.make()), refused, names.variables)
        requests = [each for each in requests if each.request not in failed]


def _collect_references(requests: Sequence[_SharedRequest], names: Sequence[str], index: int) -> BlockReferences:
    own = {
        request.prepared.key: (request.prepared, name)
        for (request, sets), name in zip(requests, names, strict=True)
        if index in sets
    }
    return BlockReferences(
        {key: prepared for key, (prepared, _) in own.items()}, {key: name for key, (_, name) in own.items()}
    )


def _describe(variable: Variable) -> NamedParts:
    return NamedParts(variable.parts, ((variable.namespace,),), variable.origin)


def _join(reason: str, more: str) -> str:
    return f"{reason}: {more}" if more else reason


def _make_files(
    blocks: Sequence[ResourceBlocks], data: Sequence[HclBlock], variables: Mapping[Variable, str]
) -> dict[str, bytes]:
    """Make the files: one for each resource group, the imports, the provider, what is read, and the variables."""
    if not blocks:
        return {}
    groups: dict[str, list[ResourceBlocks]] = {}
    for each in blocks:
        groups.setdefault(name_file(each.request.arm_id), []).append(each)
    files = {name: [each.resource for each in sorted(members, key=_order_in_file)] for name, members in groups.items()}
    files[IMPORTS] = [each.imported for each in sorted(blocks, key=_order_in_file)]
    files[PROVIDERS] = list(_make_providers(blocks))
    if data:
        files[DATA] = list(data)
    if variables:
        files[VARIABLES] = [_make_variable(each, name) for each, name in sorted(variables.items(), key=lambda i: i[1])]
    return {name: format_file(_HEADER, content) for name, content in sorted(files.items())}


def name_file(arm_id: ArmId) -> str:
    """The file of a resource. No name ends with `override.tf`, which Terraform would read in another way."""
    group = arm_id.resource_group
    if group is None:
        return "subscription.tf" if arm_id.subscription else "tenant.tf"
    return f"group-{clean_name((group,), '-') or 'unnamed'}.tf"


def _order_in_file(each: ResourceBlocks) -> tuple[bool, str]:
    """A resource group first, then by ARM id: a resource is followed by what is below it."""
    arm_id = each.request.arm_id
    return arm_id.arm_type != GROUP_TYPE, arm_id.key


def _make_providers(blocks: Sequence[ResourceBlocks]) -> Iterator[HclBlock]:
    azapi = {"source": "azure/azapi", "version": _VERSIONS["azapi"]}
    yield HclBlock(
        type="terraform",
        arguments={"required_version": _VERSIONS["required_version"]},
        blocks=(HclBlock(type="required_providers", arguments={"azapi": azapi}),),
    )
    subscriptions = {each.request.arm_id.subscription for each in blocks} - {None}
    yield HclBlock(
        type="provider",
        labels=("azapi",),
        arguments={"subscription_id": next(iter(subscriptions))} if len(subscriptions) == 1 else {},
    )


def _make_variable(variable: Variable, name: str) -> HclBlock:
    type_ = Expression("map(string)" if variable.is_map else "string")
    # An ephemeral variable is in no state and in no saved plan.
    hidden = {"sensitive": True, "ephemeral": True} if variable.is_secret else {}
    return HclBlock(
        type="variable", labels=(name,), arguments={"type": type_, "description": variable.origin, **hidden}
    )


def list_changes(blocks: Sequence[ResourceBlocks]) -> list[tuple[ResourceBlocks, str]]:
    """List the resources that the first plan changes, with the reason: a value of one that changes is not known yet."""
    changes = [(each, reason) for each in blocks for reason in each.changes]
    changed = {each.address for each, _ in changes}
    while True:
        more = [(each, sorted(each.reads & changed)) for each in blocks if each.address not in changed]
        following = [(each, f"a value of {sources[0]}, which changes") for each, sources in more if sources]
        if not following:
            return sorted(changes, key=lambda change: change[0].address)
        changes += following
        changed |= {each.address for each, _ in following}
