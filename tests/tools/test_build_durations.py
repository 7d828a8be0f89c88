"""The table of durations, from recordings of operations."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from build_durations import main

from gitsync.desired.catalog import data
from tests.support.recordings import FOLDER, needs_recordings

TOOL = Path(__file__).resolve().parents[2] / "tools" / "build_durations.py"
TYPE = "Microsoft.Network/natGateways"
OPERATIONS, PAIRS = (FOLDER / "arm-traffic" / name for name in ("long-running", "put-get-pairs"))


def make_id(name: str = "a", arm_type: str = TYPE) -> str:
    return f"/subscriptions/s/resourceGroups/g/providers/{arm_type}/{name}"


def poll(body: Any = None, **headers: str) -> dict[str, Any]:
    return {"headers": {name.replace("_", "-"): value for name, value in headers.items()}, "body": body}


DONE = {"status": "Succeeded"}


def operation(
    *polls: dict[str, Any], method: str = "PUT", status: int = 201, body: Any = None, **headers: str
) -> dict[str, Any]:
    first = poll(body, **headers)
    return {"path": make_id(), "method": method, "status": status, "polls": list(polls), **first}


def build(folder: Path, operations: list[Any], pairs: list[Any] = []) -> str:  # noqa: B006 - it is only read
    for name, rows in (("operations", operations), ("pairs", pairs)):
        (folder / name).mkdir()
        (folder / name / "some.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    file = folder / "table.tsv"
    main([str(folder / "operations"), str(folder / "pairs"), f"--file={file}"])
    return file.read_text(encoding="utf-8")


SPAN = {**DONE, "startTime": "2026-01-01T10:00:00.1234567+00:00", "endTime": "2026-01-01T10:02:17.1234567+00:00"}
REPLACED = {**DONE, "startTime": "2001-02-03T04:05:06Z", "endTime": "2001-02-03T04:05:06Z"}
EARLY, LATE = (f"https://management.azure.com/operations/1?api-version=1&t={ticks}&c=x" for ticks in (
    639118186769705884, 639118187189705884,
))  # fmt: skip


@pytest.mark.parametrize(
    ("recorded", "figures"),
    [
        pytest.param(operation(poll(SPAN)), "140\t\t", id="from start to end, to two digits"),
        pytest.param(operation(poll(REPLACED)), None, id="times that were replaced are none"),
        pytest.param(
            operation(poll(), poll(), poll(DONE, Location=LATE), Location=EARLY),
            "42\t\t",
            id="from the first signature to the last, however many polls are left",
        ),
        pytest.param(
            operation(poll(Retry_After="20"), poll(DONE), Retry_After="10"),
            "30\t\t",
            id="all waits that Azure asked for",
        ),
        pytest.param(operation(poll(), poll(DONE), Retry_After="10"), None, id="a wait that is not known is no wait"),
        pytest.param(
            operation(*(poll(Retry_After="10") for _ in range(2)), poll(DONE), Retry_After="10"),
            None,
            id="three polls may be all that is left",
        ),
        pytest.param(operation(poll({"status": "Failed"}), Retry_After="10"), None, id="it failed"),
        pytest.param(
            operation(body={"properties": {"provisioningState": "Succeeded"}}), "1\t\t", id="over with the answer"
        ),
        pytest.param(operation(body={"properties": {"provisioningState": "Updating"}}), None, id="not over"),
        pytest.param(operation(poll(DONE), status=200, Retry_After="7"), "\t7\t", id="an update"),
        pytest.param(operation(poll(DONE), method="DELETE", status=202, Retry_After="7"), "\t\t7", id="a delete"),
        pytest.param(operation(poll(DONE), method="POST", Retry_After="7"), None, id="an action"),
    ],
)
def test_what_a_recording_shows(tmp_path: Path, recorded: dict[str, Any], figures: str | None):
    assert build(tmp_path, [recorded]) == (f"{TYPE.casefold()}\t{figures}\n" if figures else "")


def test_the_median_of_several_counts(tmp_path: Path):
    recorded = [operation(poll(DONE), Retry_After=seconds) for seconds in ("5", "90", "7")]

    assert build(tmp_path, recorded) == f"{TYPE.casefold()}\t7\t\t\n"


def test_a_type_that_azure_never_works_on_takes_a_second(tmp_path: Path):
    delete = operation(poll(DONE), method="DELETE", status=202, Retry_After="15")
    twice, once = ([{"path": make_id(str(number), arm_type)} for number in range(times)] for arm_type, times in (
        (TYPE, 2), ("Microsoft.Network/routeTables", 1)
    ))  # fmt: skip
    table = build(tmp_path, [delete], [*twice, *once])

    assert table == f"{TYPE.casefold()}\t1\t1\t15\n"


def test_a_type_with_an_operation_is_not_taken_for_one_without(tmp_path: Path):
    thinned = operation(poll(), poll(), poll(DONE))

    assert build(tmp_path, [thinned], [{"path": make_id(name)} for name in "abc"]) == ""


@needs_recordings(OPERATIONS)
def test_the_table_is_what_the_recordings_show(tmp_path: Path):
    file = tmp_path / "table.tsv"
    subprocess.run([sys.executable, TOOL, OPERATIONS, PAIRS, f"--file={file}"], check=True, capture_output=True)

    assert file.read_bytes() == data.read("durations.tsv")
