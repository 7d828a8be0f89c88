"""Read the resources that a Terraform state names: a state file, or what `terraform show -json` prints of one.

A state holds passwords and keys in plain text. Only addresses and ARM ids leave this module; no message quotes anything
else.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.formats.json_members import as_mapping, list_mappings, read_mapping, read_text
from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import ConfigError
from gitsync.workflows.imports.terraform.instance_addresses import InstanceAddress, make_address

MAX_BYTES: Final = 64 * 1024 * 1024
"""Of a state. A resource has some 4 KB, and Terraform itself is slow long before this."""
MOST_BRACKETS: Final = 1_000_000
"""Objects and lists in a state, with the brackets in its texts. One of azurerm has some 5 in a KB."""
SHORTEN: Final = "Keep only the ids: jq '.resources[].instances[].attributes |= {id, resource_manager_id}' STATE."

_HINT: Final = "Write the state with `terraform state pull`, or with `terraform show -json`."
_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_VERSION: Final = 4
_OPENTOFU: Final = "registry.opentofu.org"
_OTHER_IDS: Final = "resource_manager_id"
"""Where azurerm shows the ARM id of a resource whose `id` is another: a URL, as of a container, or that of others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateResource:
    """One instance of a managed resource."""

    address: InstanceAddress

    id: str
    """Its id if that may be an ARM id, or is made of such: it begins with a slash. Otherwise "": the id of a
    `random_string` is its value.
    """

    is_deposed: bool = False  # Terraform has replaced it, and still has to destroy it


@dataclass(frozen=True, slots=True, kw_only=True)
class TerraformState:
    """The managed resources of a state, in its order."""

    resources: tuple[StateResource, ...]
    data_sources: tuple[InstanceAddress, ...]  # no one manages what these read
    program: str  # the command that wrote it: `terraform` or `tofu`


def read_state(name: str, content: bytes) -> TerraformState:
    """Read a state. Raises ConfigError if it is not one of a known form, or a resource in it is malformed."""
    # Counted before the JSON is read: each object takes far more memory than its text.
    if content.count(b"{") + content.count(b"[") > MOST_BRACKETS:
        raise ConfigError(f"{name} has more than {MOST_BRACKETS:,} objects and lists.", hint=SHORTEN)
    try:
        # PowerShell writes UTF-16 if a state is piped into a file.
        text = content.decode("utf-16") if content.startswith(_UTF_16) else content
        document = read_json(text, are_names_unique=True)
    except ValueError:  # its text may quote a value
        raise ConfigError(f"{name} is not valid JSON.", hint=_HINT) from None
    entries = list(_list_entries(name, as_mapping(document)))
    try:
        managed = tuple(_read_entry(entry) for entry in entries if entry.mode == "managed")
        read_only = tuple(_read_entry(entry).address for entry in entries if entry.mode == "data")
    except ValueError as error:
        raise ConfigError(f"{name} has a malformed resource: {error}.", hint=_HINT) from None
    # A mode of a later Terraform may be a resource that has to be taken over too.
    if any(entry.mode not in {"managed", "data"} for entry in entries):
        raise ConfigError(f"{name} has a resource that is neither managed nor a data source.", hint=_HINT)
    if not managed:
        raise ConfigError(f"{name} has no managed resource.", hint="Give the state that `terraform state list` reads.")
    is_of_opentofu = any(_OPENTOFU in entry.provider for entry in entries)
    return TerraformState(
        resources=managed,
        data_sources=read_only,
        program="tofu" if is_of_opentofu else "terraform",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """What both forms have of an instance."""

    mode: str  # `managed` or `data`
    module: object  # the path of its module, "" for the root module
    block: Mapping[str, Any]  # the object with its type and name
    provider: str  # the address of its provider
    index: object  # the key of the instance, None without one
    is_deposed: bool  # whether it is waiting to be destroyed
    values: Mapping[str, Any]  # its attributes


def _list_entries(name: str, document: Mapping[str, Any]) -> Iterator[_Entry]:
    if "encrypted_data" in document:
        hint = "Give the output of `tofu state pull` or `tofu show -json`, which decrypt it."
        raise ConfigError(f"{name} is encrypted by OpenTofu.", hint=hint)
    if "planned_values" in document or "resource_changes" in document:
        raise ConfigError(f"{name} is a plan, not a state.", hint="Run `terraform show -json` without a file.")
    if "format_version" in document:
        if read_text(document, "format_version").partition(".")[0] not in {"0", "1"}:
            raise ConfigError(f"{name} has a format_version that gitsync does not support.", hint=_HINT)
        yield from _walk_modules(name, read_mapping(read_mapping(document, "values"), "root_module"))
        return
    if document.get("version") != _VERSION:
        hint = f"{_HINT} gitsync reads version {_VERSION}, which Terraform writes since 0.12."
        raise ConfigError(f"{name} is not a Terraform state of version {_VERSION}.", hint=hint)
    for block in _list_objects(name, document, "resources"):
        for instance in _list_objects(name, block, "instances"):
            yield _Entry(
                mode=read_text(block, "mode"),
                module=block.get("module", ""),
                block=block,
                provider=read_text(block, "provider"),
                index=instance.get("index_key"),
                is_deposed="deposed" in instance,
                # A resource that no provider has touched since Terraform 0.11 has them in its older form.
                values=read_mapping(instance, "attributes") or read_mapping(instance, "attributes_flat"),
            )


def _walk_modules(name: str, root: Mapping[str, Any]) -> Iterator[_Entry]:
    for block in _list_objects(name, root, "resources"):
        yield _Entry(
            mode=read_text(block, "mode"),
            module=root.get("address", ""),
            block=block,
            provider=read_text(block, "provider_name"),
            index=block.get("index"),
            is_deposed="deposed_key" in block,
            values=read_mapping(block, "values"),
        )
    for module in _list_objects(name, root, "child_modules"):
        yield from _walk_modules(name, module)


def _list_objects(name: str, parent: Mapping[str, Any], member: str) -> list[Mapping[str, Any]]:
    """List the objects of a member. ConfigError if it is anything else: a resource would be missing in silence."""
    value = parent.get(member)
    objects = list_mappings(parent, member)
    if value is not None and (not isinstance(value, list) or len(objects) != len(value)):
        raise ConfigError(f"{name}: {member} is not a list of objects.", hint=_HINT)
    return objects


def _read_entry(entry: _Entry) -> StateResource:
    type_name, name, is_data = entry.block.get("type"), entry.block.get("name"), entry.mode == "data"
    address = make_address(entry.module, type_name, name, entry.index, is_data=is_data)
    ids = (read_text(entry.values, _OTHER_IDS), read_text(entry.values, "id"))
    return StateResource(
        address=address,
        id=next((text for text in ids if text.startswith("/")), ""),
        is_deposed=entry.is_deposed,
    )
