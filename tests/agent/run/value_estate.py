"""An estate of values that flow: its sources, and forty uses of them (value_uses.yaml)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from gitsync.model.gvk import Key

_TABLE = Path(__file__).with_name("value_uses.yaml")


class Use(NamedTuple):
    """A manifest of the table."""

    key: Key
    text: str
    row: Mapping[str, Any]

    @property
    def why(self) -> str:
        return self.row["why"]


@cache
def read_table() -> tuple[tuple[Use, ...], tuple[Use, ...]]:
    """The sources, and the uses."""
    table = yaml.safe_load(_TABLE.read_text())
    return tuple(map(make_use, table["sources"])), tuple(map(make_use, table["uses"]))


def make_use(row: Mapping[str, Any]) -> Use:
    kind, _, rest = row["kind"].partition(".")
    group, _, version = rest.partition("/")
    metadata: dict[str, Any] = {"name": row["name"], "namespace": row.get("namespace", "default")}
    if "sets" in row:
        metadata["annotations"] = {"gitsync/set": write_sets(row["sets"])}
    document = {"apiVersion": f"{group}/{version}", "kind": kind, "metadata": metadata, "spec": row["spec"]}
    return Use(Key(group, kind, metadata["namespace"], row["name"]), json.dumps(document), row)


def write_sets(sets: Mapping[str, str]) -> str:
    return "".join("{}: '{}'\n".format(field, expression.replace("'", "''")) for field, expression in sets.items())


def documents(uses: Iterable[Use]) -> dict[str, str]:
    return {f"m{number}": use.text for number, use in enumerate(uses)}
