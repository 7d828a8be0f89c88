"""Data blocks: values that Azure has of a resource and that the output of its own block lacks.

`response_export_values` of the resource itself would do the same, but an import assumes that it has none, so that the
first plan would change the resource, and with it everything that needs the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.model.arm_id import IdKey
from gitsync.model.resource import Prepared
from gitsync.workflows.exports.terraform.flowing_values import OutputValue
from gitsync.workflows.exports.terraform.hcl import Expression, HclBlock, Value, format_path

_TYPE: Final = "azapi_resource"


class DataBlocks:
    """The data blocks of a configuration. Its mutable state is what is read of each resource."""

    def __init__(self, names: Mapping[IdKey, str]) -> None:
        self._names = names  # of the blocks, by the ids of their resources
        self._read: dict[IdKey, tuple[Prepared, Value, set[str]]] = {}

    def read(self, output: OutputValue, resource_id: Value) -> Expression | None:
        """Return the expression of a value; None if azapi cannot read it by its path. `resource_id` is the id as the
        block of the resource has it.
        """
        path, arm_id = output.path, output.source.arm_id
        exported = list(_take_members(path))
        # azapi takes a dot in a path for the end of a step.
        if arm_id is None or not exported or any("." in step for step in exported):
            return None
        _, _, paths = self._read.setdefault(arm_id.key, (output.source, resource_id, set()))
        paths.add(".".join(exported))
        return Expression(format_path(f"data.{_TYPE}.{self._names[arm_id.key]}.output", path))

    def make(self) -> Iterator[HclBlock]:
        """Make the blocks, in the order of their names."""
        for key, (source, resource_id, paths) in sorted(self._read.items(), key=lambda item: self._names[item[0]]):
            arguments = {
                "type": f"{source.arm_id.arm_type}@{source.api_version}" if source.arm_id else "",
                "resource_id": resource_id,
                "response_export_values": sorted(paths),
            }
            yield HclBlock(type="data", labels=(_TYPE, self._names[key]), arguments=arguments)


def _take_members(path: JsonPath) -> Iterator[str]:
    """Take the members of a path up to the first list, which is read as a whole."""
    for step in path:
        if isinstance(step, int):
            return
        yield step
