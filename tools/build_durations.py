"""Pack for how long Azure works on the writes of each type into gitsync/desired/catalog/data/durations.tsv.

usage: build_durations.py OPERATIONS PAIRS [--file FILE]

Both are folders of JSON lines from the same Azure recordings. A row of OPERATIONS is a write that Azure did not
complete with its answer: `method`, `path`, `status`, `body` and `headers` of the answer, and `polls`, each with
`headers` and `body`. A row of PAIRS has the `path` of a resource that was put, whether or not that took time.

The recordings are thinned out: of most operations, the first two polls and the last are left. So the number of polls
means nothing where it is three, and a write has a figure only if its recording shows one of these:

- when the operation began and ended, by its own status;
- when Azure signed its first poll URL, and the last one (`t=`, in ticks of .NET);
- that it was over when the waits that Azure asked for (Retry-After) were, with another number of polls than three.

The largest counts: a client sees the end no earlier. A write whose answer is final, and a type of which LEAST resources
were put and no PUT is in OPERATIONS, take a second. Failed operations count for nothing. An answer of 200 to a PUT is
an update, any other a create. The figure of a type is the median of its recordings.

A line has the ARM type in lower case and the seconds of a create, an update and a delete, empty if they are not known.
The same input gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from build_catalog import DATA

from gitsync.model.arm_id import ArmId
from gitsync.planning.record_counts import round_duration

LEAST = 2
THINNED = 3
"""The number of polls that are left of an operation that took any number of them."""

TICKS = re.compile(r"[?&]t=(\d{18})\b")
TICKS_PER_SECOND = 10**7
WRITES = ("create", "update", "delete")


def read_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    for file in sorted(folder.glob("*.jsonl")):
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())


def name_write(row: Mapping[str, Any]) -> str:
    """The column of a write; "" for what is none."""
    put = "update" if row["status"] == 200 else "create"
    return {"PUT": put, "DELETE": "delete"}.get(row["method"], "")


def measure(row: Mapping[str, Any]) -> float | None:
    """The seconds that a recording shows; None if it shows none."""
    polls = row["polls"]
    if not polls:
        return 1.0 if find_state(row["body"]) == "Succeeded" else None
    status = polls[-1]["body"] if isinstance(polls[-1]["body"], dict) else {}
    if status.get("status") in {"Failed", "Canceled"}:
        return None
    known = [*read_span(status), *read_signatures(row), *add_waits(row)]
    return max(known) if known else None


def find_state(body: Any) -> Any:
    properties = body.get("properties") if isinstance(body, dict) else None
    return properties.get("provisioningState") if isinstance(properties, dict) else None


def read_span(status: Mapping[str, Any]) -> Iterator[float]:
    """The time from start to end. Equal ones were replaced in the recording by one constant."""
    start, end = status.get("startTime"), status.get("endTime")
    if start and end and start != end:
        yield (parse_time(end) - parse_time(start)).total_seconds()


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))


def read_signatures(row: Mapping[str, Any]) -> Iterator[float]:
    first, last = find_ticks(row["headers"]), find_ticks(row["polls"][-1]["headers"])
    if first and last:
        yield (last - first) / TICKS_PER_SECOND


def find_ticks(headers: Mapping[str, str]) -> int | None:
    found = next(filter(None, map(TICKS.search, map(str, headers.values()))), None)
    return int(found[1]) if found else None


def add_waits(row: Mapping[str, Any]) -> Iterator[float]:
    """The waits before all polls, if each is known."""
    answers = [row["headers"], *(poll["headers"] for poll in row["polls"][:-1])]
    waits = [headers.get("Retry-After", "") for headers in answers]
    if len(row["polls"]) != THINNED and all(wait.isdecimal() for wait in waits):
        yield float(sum(map(int, waits)))


def find_durations(operations: list[Mapping[str, Any]], pairs: list[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """The seconds of each type and write."""
    measured: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    slow = set[str]()
    for row in operations:
        arm_type, write, seconds = ArmId(row["path"]).arm_type.casefold(), name_write(row), measure(row)
        slow |= {arm_type} if row["method"] == "PUT" else set()
        if write and seconds is not None:
            measured[arm_type][write].append(seconds)
    put = Counter(ArmId(path).arm_type.casefold() for path in {row["path"].casefold() for row in pairs})
    for arm_type, times in put.items():
        if times >= LEAST and arm_type not in slow:
            measured[arm_type] |= {"create": [1.0], "update": [1.0]}
    return {
        arm_type: {write: round_duration(median(seconds)) for write, seconds in by_write.items()}
        for arm_type, by_write in sorted(measured.items())
    }


def format_table(durations: Mapping[str, Mapping[str, int]]) -> str:
    rows = ([arm_type, *(str(figures.get(write, "")) for write in WRITES)] for arm_type, figures in durations.items())
    return "".join("\t".join(row) + "\n" for row in rows)


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(description="Pack for how long Azure works on the writes of each type.")
    parser.add_argument("operations", type=Path)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--file", type=Path, default=DATA / "durations.tsv")
    options = parser.parse_args(argv)
    operations = list(read_rows(options.operations))
    if not operations:
        raise SystemExit(f"{options.operations}: no recordings in there")
    durations = find_durations(operations, list(read_rows(options.pairs)))
    options.file.write_text(format_table(durations), encoding="utf-8")
    counts = (f"{sum(write in figures for figures in durations.values())} {write}s" for write in WRITES)
    print(f"{', '.join(counts)} of {len(durations)} types in {options.file}")


if __name__ == "__main__":
    main(sys.argv[1:])
