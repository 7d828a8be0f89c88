"""Take a release of ASO into the catalog: read a checkout, pack its facts, and write what changed.

usage: make_catalog.py CHECKOUT [--release 2.21] [--data DATA] [--facts FOLDER] [--summary FILE]

CHECKOUT is a git checkout of https://github.com/Azure/azure-service-operator at a release. Its submodules are not
needed: the facts are in the Go source below v2/api, and in v2/azure-arm.yaml. They are packed into DATA, which is
gitsync/desired/catalog/data by default, whose CATALOG names the release and whose releases.tsv grows by it. FILE gets
what changed as Markdown, else stdout, and FOLDER the facts as one JSON file a group, to look at.

A version that the release removed stays in the packed facts until the next release, so that manifests with it are still
read, with a warning. A form of Go that the extractor does not support ends it before anything is written.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import build_catalog
from extract_facts.change_summary import compare, format_summary
from extract_facts.group_facts import Groups, read_groups
from extract_facts.release import (
    Release,
    check_order,
    describe,
    find_release,
    read_catalog_file,
    shorten,
    update_catalog_file,
)
from extract_facts.release_history import extend, list_names, read_history, read_stated, write_history
from extract_facts.removed_versions import drop_removed, keep_removed

LISTS = Path(__file__).resolve().parent / "extract_facts" / "lists.tsv"
"""The lists that Azure's APIs have of each ARM type, which ASO does not state."""


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--release", default="", metavar="2.21", help="what a tree that has no tag leads to")
    parser.add_argument("--without", nargs="*", default=(), metavar="GROUP/VERSION", help="what a fork added")
    parser.add_argument("--data", type=Path, default=build_catalog.DATA)
    parser.add_argument("--facts", type=Path, help="a folder for the facts as JSON")
    parser.add_argument("--summary", type=Path, help="a file for what changed")
    options = parser.parse_args(argv)
    for path in filter(None, (options.summary, options.facts)):
        if not path.absolute().parent.is_dir():
            raise SystemExit(f"{path}: the folder for it does not exist")
    release = find_release(options.checkout, options.release)
    check_order(release, read_catalog_file(options.data).get("aso", {}).get("release", ""))
    groups = read_groups(options.checkout, [tuple(name.rpartition("/")[::2]) for name in options.without])
    packed = build_catalog.convert_choices(groups)
    summary, size = take_release(packed, options.checkout, release, options.data)
    if options.facts:
        write_facts(groups, options.facts)
    if options.summary:
        options.summary.write_text(summary, encoding="utf-8")
    print(f"{size} bytes in {options.data}" if options.summary else summary)


def take_release(groups: Groups, checkout: Path, release: Release, data: Path) -> tuple[str, int]:
    """Pack the facts of a release into DATA. Returns the summary and the size of the packed files in bytes."""
    last = read_catalog_file(data).get("aso", {}).get("release", "")
    old, names = read_packed(data), list_names(groups)
    stated = read_stated(checkout, names, last, release.number)
    history = extend(read_history(data), names, release.number, stated)
    lists = build_catalog.read_lists(LISTS)
    data.mkdir(parents=True, exist_ok=True)
    size = build_catalog.write_packed(keep_removed(groups, old, history, shorten(release.number)), lists, data)
    write_history(history, data)
    update_catalog_file(data, "aso", describe(release))
    title = f"ASO {release.number}, after {last}" if last else f"ASO {release.number}"
    return format_summary(title, compare(drop_removed(old), groups), list_notes(groups, lists)), size


def read_packed(data: Path) -> Groups:
    """The facts of ASO's kinds that DATA has, without the kinds of tools/other_kinds.json."""
    others = json.loads(build_catalog.OTHER_KINDS.read_text(encoding="utf-8"))
    groups: Groups = {}
    for file in sorted(data.glob("*.jsonl.xz")):
        head, *lines = map(json.loads, lzma.decompress(file.read_bytes()).splitlines())
        versions = dict(zip(head["versions"], lines, strict=True))
        own = {name: facts for name, facts in versions.items() if name not in others.get(head["group"], ())}
        if own:
            groups[head["group"]] = {**head, "versions": own}
    return groups


def list_notes(groups: Groups, lists: Mapping[str, Any]) -> list[str]:
    """What a maintainer may add that ASO does not state."""
    types = {
        fact["armType"]
        for facts in groups.values()
        for content in facts["versions"].values()
        for fact in content["kinds"].values()
    }
    return [
        f"No row of `tools/extract_facts/lists.tsv` has the lists of {name}: each resource is read by itself."
        for name in sorted(types)
        if name.casefold() not in lists
    ]


def write_facts(groups: Groups, folder: Path) -> None:
    """Write the facts of each group as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for group, facts in groups.items():
        text = json.dumps(facts, indent=1, sort_keys=True)
        (folder / f"{group}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
