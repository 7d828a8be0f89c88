"""The facts of one version of a group: its kinds, and the types that their specs and statuses reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from extract_facts import spec_conversion, status_conversion
from extract_facts.arm_names import describe_empty, find_fields, join_names
from extract_facts.field_types import make_type, name_struct
from extract_facts.go_source import GoField, GoPackage, read_package
from extract_facts.kind_facts import list_kinds, read_kind
from extract_facts.marks import make_number, read_marks
from extract_facts.not_supported import NotSupportedError
from extract_facts.spec_conversion import Sent
from extract_facts.unions import read_union

Facts = dict[str, Any]

_META = {
    "spec": frozenset({"AzureName", "OperatorSpec", "OriginalVersion", "Owner"}),
    "status": frozenset({"Conditions"}),
}
"""Fields that are for ASO."""
_NOT_SENT = frozenset({"AzureNameFromConfig"})
"""Fields of a spec that no conversion reads: ASO does before it converts."""
_KEPT_TAGS = ("armReference", "optionalConfigMapPair")
_TEXT = frozenset({"enum", "pattern", "required"})
"""Rules that are not numbers."""


class _Arm(NamedTuple):
    """The ARM side of a struct."""

    struct: str
    sent: Mapping[str, Sent]  # by the names of fields in Go
    package: GoPackage


def read_version(folder: Path, checkout: Path) -> Facts:
    """{"kinds", "types"} of the version in a folder, whose subfolder `arm` has the ARM side. NotSupportedError names
    the file, or the folder and the struct.
    """
    package, arm = read_package(folder, checkout), read_package(folder / "arm", checkout)
    kinds = {kind: _locate(partial(read_kind, kind, package), kind, package) for kind in list_kinds(package)}
    types: Facts = {}
    waiting = [facts[part] for facts in kinds.values() for part in ("spec", "status")]
    while waiting:
        name = waiting.pop()
        if name not in types:
            types[name] = _locate(partial(_read_type, name, package, arm), name, package)
            inner = (name_struct(field.type) for field in package.structs[name].values())
            waiting += [struct for struct in inner if struct in package.structs]
    return {"kinds": kinds, "types": types}


def _locate(read: Callable[[], Facts], struct: str, package: GoPackage) -> Facts:
    """What `read` returns of a struct. Errors, also those of names that Go's structs lack, get its file."""
    try:
        return read()
    except KeyError as error:
        problem = NotSupportedError(f"nothing declares {error.args[0]}")
    except NotSupportedError as error:
        problem = error
    path = next((method.path for method in package.methods.get(struct, {}).values()), package.path)
    raise problem.at(path if problem.line else f"{path} ({struct})")


def _read_type(name: str, package: GoPackage, arm_package: GoPackage) -> Facts:
    fields = package.structs[name]
    is_status = "_STATUS" in name
    arm = _find_arm(name, package, arm_package, is_status=is_status)
    facts: Facts = {"fields": {}}
    for field in fields.values():
        if not field.json_name:
            raise NotSupportedError(f"{name}.{field.name} has no name in JSON")
        facts["fields"][field.json_name] = _read_field(field, package, arm, is_status=is_status)
    if arm:
        facts |= read_union(arm.struct, fields, arm_package)
    return facts


def _find_arm(name: str, package: GoPackage, arm: GoPackage, *, is_status: bool) -> _Arm | None:
    """The ARM side of a struct; None for one that is for ASO alone."""
    if is_status:
        if (method := package.method(name, "PopulateFromARM")) is None:
            return None
        filled = status_conversion.read_filled(method)
        return _Arm(
            status_conversion.find_arm_struct(method),
            {field: Sent(path, "plain") for field, path in filled.items()},
            arm,
        )
    if (method := package.method(name, "ConvertToARM")) is None:
        return None
    return _Arm(spec_conversion.find_arm_struct(method), spec_conversion.read_sent(method), arm)


def _read_field(field: GoField, package: GoPackage, arm: _Arm | None, *, is_status: bool) -> Facts:
    facts: Facts = {"type": make_type(field.type, package)}
    for rule, value in read_marks(field.comments).items():
        facts[rule] = value if rule in _TEXT else make_number(value)
    if field.name in _META["status" if is_status else "spec"]:
        facts["meta"] = True
    elif arm and field.name in arm.sent:
        facts |= _read_sent(arm, arm.sent[field.name], is_status=is_status)
    elif arm and field.name not in _NOT_SENT:
        raise NotSupportedError(
            f"{field.name} is in no statement of {'PopulateFromARM' if is_status else 'ConvertToARM'}"
        )
    return facts | {tag: field.tags[tag] for tag in _KEPT_TAGS if tag in field.tags}


def _read_sent(arm: _Arm, sent: Sent, *, is_status: bool) -> Facts:
    path = find_fields(arm.struct, sent.path, arm.package)
    facts: Facts = {"arm": join_names(path)}
    if sent.mode != "plain":
        facts["mode"] = sent.mode
    if not is_status and (empty := describe_empty(path[-1])):
        facts["whenEmpty"] = empty
    return facts
