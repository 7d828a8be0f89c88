"""Make manifests of the resources that an import found, each as its kind allows it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import find_only_name, is_separate, is_unset, list_embedding
from gitsync.desired.catalog.packed_tables import find_azure_values, name_built_in_role
from gitsync.desired.catalog.positions import find_root
from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.manifests.yaml_output import dump
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.request.body import convert
from gitsync.desired.request.fill import find_values
from gitsync.desired.validation.validate import check_spec
from gitsync.model.arm_id import ArmId, IdKey
from gitsync.model.export import ObjectKind
from gitsync.model.facts import Field, Kind
from gitsync.model.gvk import Key
from gitsync.model.problem import Level
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy
from gitsync.workflows.imports.conversion.any_live_body import BodyContext, convert_any_body
from gitsync.workflows.imports.conversion.found_resources import FoundResource, ImportedManifest
from gitsync.workflows.imports.conversion.layout import Taken, name_manifests
from gitsync.workflows.imports.conversion.live_body import EVERY, ConversionContext, ConvertedSpec, convert_body


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestStyle:
    """How manifests are made."""

    existing: Mapping[IdKey, Key]  # the keys of manifests that are there already, by ARM id
    policy: Policy = Policy.DETACH_ON_DELETE
    namespace: str  # of the manifests
    is_explicit: bool = False  # the namespace is written into them
    is_full: bool = False  # keeps what Azure sets by itself


def make_manifests(resources: Sequence[FoundResource], style: ManifestStyle) -> tuple[ImportedManifest, ...]:
    """Make a manifest of each resource, in the order of the resources."""
    namespace = style.namespace
    # References stay in a namespace, so a manifest of another one is referred to by its id.
    near = {arm_id: key for arm_id, key in style.existing.items() if key.namespace == namespace}
    taken: Taken = {(key.group, key.kind, key.name) for key in near.values()}
    names = name_manifests(resources, taken)
    keys = {
        resource.arm_id: Key(resource.kind.gvk.group, resource.kind.gvk.kind, namespace, names[resource.arm_id])
        for resource in resources
    }
    owners = {resource.arm_id.key: resource.owner_id.key for resource in resources}
    index = ManifestIndex({**near, **{arm_id.key: key for arm_id, key in keys.items()}}, owners)
    # ASO's kinds decide what is a reference; the body of any type may have the plain id instead.
    ordered = sorted(resources, key=lambda resource: resource.kind.is_any_type)
    made = {resource.arm_id: _make_manifest(resource, keys[resource.arm_id], index, style) for resource in ordered}
    return tuple(made[resource.arm_id] for resource in resources)


def is_as_made(resource: FoundResource) -> bool:
    """Return whether a resource of a fixed name is as Azure made it with its parent: no one has set anything."""
    if not find_only_name(resource.kind):
        return False
    fields = _convert(resource, ManifestIndex({}), "", is_full=False).fields
    if resource.kind.is_any_type:
        fields = find_member(fields, "body", "properties") or {}
    return is_unset(resource.kind.arm_type, fields)


def build_request_body(resource: FoundResource) -> Mapping[str, Any]:
    """Build the body that the manifest of a resource will request, with placeholders for what is filled in."""
    spec = _convert(resource, ManifestIndex({}), "secret", is_full=False).fields
    return convert(resource.kind, spec, resource.name, "").body


def _make_manifest(resource: FoundResource, key: Key, index: ManifestIndex, style: ManifestStyle) -> ImportedManifest:
    secret = f"{key.name}-{key.kind.lower()}"
    converted = _convert(resource, index, secret, is_full=style.is_full)
    spec = {**dict(_list_identity(resource, key, index)), **converted.fields}
    metadata: dict[str, Any] = {"name": key.name}
    # Without it, the namespace is that of the unit or of the settings, so the files can be used for several.
    if style.is_explicit:
        metadata["namespace"] = key.namespace
    if style.policy is not Policy.MANAGE:  # the default needs no annotation
        metadata["annotations"] = {RECONCILE_POLICY: style.policy.value}
    gvk = resource.kind.gvk
    return ImportedManifest(
        key=key,
        document={"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, "spec": spec},
        resource=resource,
        secrets=tuple(list_secrets(resource.kind, converted.fields, resource.name, key.namespace)),
        unfit=converted.unfit,
    )


def _convert(resource: FoundResource, index: ManifestIndex, secret: str, *, is_full: bool) -> ConvertedSpec:
    """Convert the body to a valid spec, without owner and azureName."""
    if resource.kind.is_any_type:
        context = BodyContext(refer=partial(index.try_refer_from, resource), secret=secret)
        return convert_any_body(resource.kind, resource.body, resource.name, context)
    values = find_azure_values(resource.kind.arm_type)
    conversion = ConversionContext(
        refer=partial(index.refer_from, resource),
        refer_to_role=index.refer_to_role,
        is_azures_own=(lambda _path, _value: False) if is_full else values.is_own,
        left_out=list_embedding(resource.kind.arm_type),
        is_separate=partial(is_separate, resource.kind.arm_type),
        secret=secret,
    )
    return fit_spec(resource.kind, convert_body(resource.kind, resource.body, conversion))


def _list_identity(resource: FoundResource, key: Key, index: ManifestIndex) -> Iterator[tuple[str, Any]]:
    """List the fields that identify the resource: its type, its name in Azure if that differs, and its owner."""
    if resource.kind.is_any_type:
        yield "type", f"{resource.kind.arm_type}@{resource.kind.api_version}"
    if resource.kind.fixed_azure_name is None and resource.name != key.name:
        yield "azureName", resource.name
    if resource.kind.has_owner:
        yield "owner", index.own(resource.kind, resource.owner_id)


def format_manifests(manifests: Iterable[ImportedManifest]) -> bytes:
    """Format manifests as one file of YAML, with a comment for each origin, and each value that looks like a secret."""
    texts = []
    for manifest in manifests:
        comments = [f"# {origin}" for origin in manifest.origins]
        comments += [f"# {secret.field} looks like a secret: {secret.way}." for secret in manifest.plain_secrets]
        # A line break in the name of a field would end the comment.
        printable = ["".join(letter if letter.isprintable() else "?" for letter in comment) for comment in comments]
        head = "".join(f"{comment}\n" for comment in printable)
        texts.append(head.encode() + dump(manifest.document, has_blocks=True))
    return b"---\n".join(texts)


def list_secrets(kind: Kind, spec: Mapping[str, Any], name: str, namespace: str) -> Iterator[tuple[str, str]]:
    """List the values of Secrets that a spec refers to: name and key of each, "" for all keys."""
    for address, key in find_values(convert(kind, spec, name, namespace).body, namespace):
        if address.object_kind is ObjectKind.SECRET:
            yield address.name, key or ""


# References from ARM ids: to a manifest by its name where there is one, else by the id.


class ManifestIndex:
    """The manifests of one namespace, imported or already there, by the keys of the ARM ids that they stand for. Its
    mutable state are the references between imported resources, so that none closes a circle.
    """

    def __init__(self, keys: Mapping[IdKey, Key], owners: Mapping[IdKey, IdKey] | None = None) -> None:
        """`owners` are those of the imported resources, by id."""
        self._keys = keys
        self._needs = {arm_id: {owner} for arm_id, owner in (owners or {}).items()}

    def refer(self, arm_id: str) -> Mapping[str, Any]:
        """Refer to a resource: by name if it has a manifest, else by its ARM id."""
        key = self._keys.get(ArmId(arm_id).key)
        return _name(key) if key else {"armId": arm_id}

    def refer_from(self, resource: FoundResource, arm_id: str) -> Mapping[str, Any]:
        """Refer to a resource from an imported one."""
        self._needs.setdefault(resource.arm_id.key, set()).add(ArmId(arm_id).key)
        return self.refer(arm_id)

    def try_refer_from(self, resource: FoundResource, arm_id: str) -> Mapping[str, Any] | None:
        """Refer to a resource by name; None if it has no manifest, or needs the other one itself: a parent shows ids
        of its children.
        """
        own, other = resource.arm_id.key, ArmId(arm_id).key
        key = self._keys.get(other)
        if key is None or self._reaches(other, own):
            return None
        self._needs.setdefault(own, set()).add(other)
        return _name(key)

    def _reaches(self, start: IdKey, target: IdKey) -> bool:
        """Return whether a resource needs another, over any number of steps, or is the same."""
        seen, open_ids = {start}, [start]
        while open_ids:
            current = open_ids.pop()
            if current == target:
                return True
            new = self._needs.get(current, set()) - seen
            seen |= new
            open_ids += new
        return False

    def refer_to_role(self, arm_id: str) -> Mapping[str, Any] | None:
        """Refer to a role by its name, if it is a built-in one; None if the table does not have it."""
        name = name_built_in_role(ArmId(arm_id))
        return {"wellKnownName": name} if name else None

    def own(self, kind: Kind, owner_id: ArmId) -> Mapping[str, Any]:
        """Refer to the owner of a resource: by its name alone where the kind fixes what its owner is."""
        key = self._keys.get(owner_id.key)
        if key is None:
            return {"armId": str(owner_id) or "/"}  # a resource of the tenant
        # A child with an owner of any kind needs the kind as well, since names are unique only within one.
        if kind.any_owner:
            return _name(key)
        return {"name": key.name} if kind.owner == (key.group, key.kind) else {"armId": str(owner_id)}


def _name(key: Key) -> Mapping[str, Any]:
    return {"group": key.group, "kind": key.kind, "name": key.name}


# A spec as its kind allows it: Azure returns values that no manifest may have.


def fit_spec(kind: Kind, converted: ConvertedSpec) -> ConvertedSpec:
    """Leave out the smallest parts of a spec without which it is valid, and add their paths to the unfit ones.

    A part that the kind requires goes with what holds it, and an entry with its list: a shorter list would mean
    something else. What the spec itself requires stays as it is.
    """
    fields, unfit = converted.fields, dict.fromkeys(converted.unfit)
    # What is left out may make what holds it invalid, so it is checked until nothing is found.
    while removed := sorted(set(_list_unfit(kind, fields))):
        fields = deepcopy(fields)
        for path in removed:
            parent = find_member(fields, *path[:-1])
            if isinstance(parent, dict):  # not left out with a part before
                parent.pop(path[-1], None)
            unfit[format_pointer(tuple(part for _, steps in _follow(kind, path) for part in steps))] = None
    return ConvertedSpec(fields=fields, unfit=tuple(unfit))


def _list_unfit(kind: Kind, fields: Mapping[str, Any]) -> Iterator[FieldPath]:
    """List the parts of a spec to leave out."""
    for finding in check_spec(visit_spec(kind, fields), kind, open_catalog()):
        # What is missing has no path, so the object that lacks it is left out.
        _, *steps = finding.path[:-1] if finding.code == "MissingField" else finding.path
        path = _climb(kind, fields, tuple(steps))
        if finding.level is Level.ERROR and path and find_member(fields, *path) is not None:
            yield path


def _climb(kind: Kind, fields: Mapping[str, Any], path: FieldPath) -> FieldPath:
    """Find the part that goes together with one that goes: the list of an entry, and what would be empty then and may
    be absent.
    """
    facts = [field for field, _ in _follow(kind, path)]
    while path:
        above = path[:-1]
        is_spare = bool(above) and isinstance(above[-1], str) and not facts[len(above) - 1].get("required")
        if not isinstance(path[-1], int) and not (is_spare and len(find_member(fields, *above) or "") == 1):
            break
        path = above
    return path


def _follow(kind: Kind, path: FieldPath) -> Iterator[tuple[Field, JsonPath]]:
    """Yield the facts of each step of a path in a spec, and its steps in the body; the choice of a union has none, nor
    have the parts of a reference.
    """
    position = find_root(kind)
    for step in path:
        if position.facts is None:
            yield {}, (EVERY if position.shape == "list" else step,)
            position = position.entry
            continue
        field = position.fields[str(step)]
        yield field, tuple(field["arm"].split("/")) if "arm" in field and not position.facts.get("oneOf") else ()
        position = position.members[str(step)]
