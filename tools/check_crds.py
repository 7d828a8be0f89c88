"""Hold the catalog against the CRDs of a release of ASO, which its generator writes by another way than its Go source.

usage: check_crds.py BUNDLE... [--data DATA] [--show 20]

BUNDLE is a file with CRDs, such as azureserviceoperator_customresourcedefinitions_v2.21.0.yaml of a release, or a
folder of such files. Compared are kinds, versions and properties; of each property its type, whether it is required,
its choices, pattern, lengths and limits. A difference that REASONS has is counted, with the reason. Any other is
listed, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from build_catalog import DATA
from crd_schemas import Row, Table, flatten_kind, flatten_schema

from gitsync.desired.catalog.catalog import Catalog
from gitsync.model.gvk import GVK
from gitsync.model.provider import Provider

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ABSENT = "absent"


class Difference(NamedTuple):
    """What the catalog and the CRDs have otherwise."""

    gvk: GVK
    path: str  # of a property; "" for the version itself
    what: str  # "version", "property", "type", "required", or a rule
    catalog: Any
    crd: Any

    def __str__(self) -> str:
        name = f"{self.gvk.group}/{self.gvk.version} {self.gvk.kind}"
        return f"{name} {self.path}: {self.what}: catalog {self.catalog}, CRD {self.crd}"


class Reason(NamedTuple):
    """Why a kind of difference is expected."""

    text: str
    holds: Callable[[Difference, Catalog], bool]


def is_no_kind_of_arm(difference: Difference, catalog: Catalog) -> bool:
    group, _, kind = difference.gvk
    return catalog.has_kind(group, kind) and catalog.provider(group, kind) is not Provider.ARM


def is_of_other_group(difference: Difference, catalog: Catalog) -> bool:
    group = difference.gvk.group
    providers = {catalog.provider(group, kind) for kind in catalog.kinds(group)}
    return bool(providers) and Provider.ARM not in providers


def is_form_of_id(difference: Difference, _: Catalog) -> bool:
    return (difference.path.rpartition(".")[2], difference.what, difference.catalog) == ("armId", "pattern", _ABSENT)


REASONS = (
    Reason("Kinds that are not ARM's have facts of gitsync's own (tools/other_kinds.json).", is_no_kind_of_arm),
    Reason("The catalog leaves out kinds of groups that have none of ARM's.", is_of_other_group),
    Reason("ASO checks the form of an armId by a pattern. gitsync parses it.", is_form_of_id),
)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--show", type=int, default=20, help="how many differences without a reason are listed")
    options = parser.parse_args(argv)
    catalog = Catalog(lambda name: (options.data / name).read_bytes())
    schemas = dict(read_schemas(options.bundle))
    if not schemas:
        raise SystemExit(f"{', '.join(map(str, options.bundle))}: no CRD of ASO in there")
    differences = list(compare_all(catalog, schemas))
    return report(differences, catalog, len(schemas), options.show)


def report(differences: Iterable[Difference], catalog: Catalog, compared: int, most: int) -> int:
    """Print the number of differences by reason, and those without one. Returns the exit code."""
    counts: Counter[str] = Counter()
    unknown: list[Difference] = []
    for difference in differences:
        reason = next((reason.text for reason in REASONS if reason.holds(difference, catalog)), "")
        counts.update([reason] if reason else [])
        unknown += [] if reason else [difference]
    print(f"{compared} versions of kinds compared.")
    for text, count in counts.most_common():
        print(f"{count:>6}  {text}")
    print(f"{len(unknown):>6}  Without a reason.")
    for difference in unknown[:most]:
        print(f"        {difference}")
    return 1 if unknown else 0


def read_schemas(bundle: Iterable[Path]) -> Iterator[tuple[GVK, Mapping[str, Any]]]:
    """The schema of each served version, except those that ASO only stores. SystemExit, with the file and line, for
    what cannot be read.
    """
    for path in bundle:
        for file in sorted(path.glob("*.y*ml")) if path.is_dir() else [path]:
            for line, document in _read_documents(file):
                if isinstance(document, Mapping) and document.get("kind") == "CustomResourceDefinition":
                    try:
                        yield from _read_definition(document["spec"])
                    except (KeyError, TypeError) as error:
                        raise SystemExit(f"{file}:{line}: a CRD without what each has: {error}") from error


def _read_documents(file: Path) -> Iterator[tuple[int, Any]]:
    """The documents of a file, each with its first line."""
    try:
        loader: Any = _LOADER(file.read_bytes())
        while loader.check_node():
            node = loader.get_node()
            yield node.start_mark.line + 1, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise SystemExit(f"{file}{line}: not YAML: {error.problem}") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SystemExit(f"{file}: cannot be read: {error}") from error


def _read_definition(spec: Mapping[str, Any]) -> Iterator[tuple[GVK, Mapping[str, Any]]]:
    for version in spec["versions"]:
        if version["served"] and not version["name"].endswith("storage"):
            gvk = GVK(spec["group"], version["name"], spec["names"]["kind"])
            yield gvk, version["schema"]["openAPIV3Schema"]


def compare_all(catalog: Catalog, schemas: Mapping[GVK, Mapping[str, Any]]) -> Iterator[Difference]:
    """All differences, sorted by group, version and kind."""
    known = {
        GVK(group, version, kind)
        for group in catalog.groups()
        for kind in catalog.kinds(group)
        for version in catalog.versions(group, kind)
    }
    for gvk in sorted(known | schemas.keys()):
        kind = catalog.kind(gvk) if gvk in known else None
        if kind and gvk in schemas:
            yield from compare_tables(gvk, flatten_kind(kind), make_table(schemas[gvk]))
        else:
            yield Difference(gvk, "", "version", *("served" if there else _ABSENT for there in (kind, gvk in schemas)))


def make_table(schema: Mapping[str, Any]) -> Table:
    """The rows of the spec and the status of a CRD."""
    parts = {part: schema.get("properties", {}).get(part) for part in ("spec", "status")}
    return {path: row for part, inner in parts.items() if inner for path, row in flatten_schema(inner, part)}


def compare_tables(gvk: GVK, catalog: Table, crd: Table) -> Iterator[Difference]:
    """The differences of the properties of one version of a kind."""
    for path in sorted(catalog.keys() | crd.keys()):
        if path not in catalog or path not in crd:
            parent = re.sub(r"(\.[^.\[{]+|\[\]|\{\})$", "", path)
            if parent in catalog and parent in crd:
                yield Difference(
                    gvk, path, "property", *(_ABSENT if path not in t else "present" for t in (catalog, crd))
                )
            continue
        yield from _compare_rows(gvk, path, catalog[path], crd[path])


def _compare_rows(gvk: GVK, path: str, catalog: Row, crd: Row) -> Iterator[Difference]:
    for rule in sorted(catalog.keys() | crd.keys()):
        ours, theirs = catalog.get(rule, _ABSENT), crd.get(rule, _ABSENT)
        if rule == "enum" and isinstance(ours, list) and isinstance(theirs, list):
            ours, theirs = sorted(ours, key=str), sorted(theirs, key=str)
        if ours != theirs:
            yield Difference(gvk, path, rule, ours, theirs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
