"""`python -m bench.accept`: what it costs to take drift into one file of many documents, beside the plan that finds it.

Half of the edits and all of them are taken. Processor time counts, of the emulator inside of the process too. Exits 1
if an accept takes more than `MOST_TIMES` its plan: with a file that is parsed for each edit, it is ten times.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from bench import estate
from bench.processes import HERE, command

MOST_TIMES = 2.0


def main() -> int:
    """Print a row for each number of edits, and give the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.accept", description="Measure accepts beside plans.")
    parser.add_argument("--resources", type=int, default=910, help="Documents of the file. [default 910]")
    parser.add_argument("--edits", type=int, default=90, help="Drifted resources. [default 90]")
    options = parser.parse_args()
    print(f"{'accept':<28}{'plan, s CPU':>14}{'accept, s CPU':>16}{'times':>8}")
    times = []
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as name:
        folder = Path(name)
        file = _write(folder, options.resources)
        before = file.read_text(encoding="utf-8")
        estate.commit(folder)
        _run("sync", folder, HERE / "azure.yaml")
        for edits in (options.edits // 2, options.edits):
            script = _drift(folder, edits)
            shutil.copyfile(folder / "azure.db", folder / "before.db")
            plan, accept = _run("plan", folder, script), _run("accept", folder, script)
            shutil.move(folder / "before.db", folder / "azure.db")
            file.write_text(before, encoding="utf-8")
            times.append(accept / plan)
            title = f"{edits} edits of {options.resources}"
            print(f"{title:<28}{plan:>14.2f}{accept:>16.2f}{times[-1]:>8.2f}")
    return 1 if max(times) > MOST_TIMES else 0


def _write(folder: Path, resources: int) -> Path:
    """Write one file of resource groups."""
    tree = folder / "tree"
    tree.mkdir()
    head = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n"
    documents = (
        f"{head}metadata:\n  name: group-{number:05}\nspec:\n  location: westeurope\n  tags:\n    team: shop  # ours\n"
        for number in range(resources)
    )
    file = tree / "groups.yaml"
    file.write_text("---\n".join(documents), encoding="utf-8")
    return file


def _drift(folder: Path, edits: int) -> Path:
    """Write a script of the emulator in which somebody changes a tag of some groups."""
    lines = [(HERE / "azure.yaml").read_text(encoding="utf-8"), "moves:\n"]
    for number in range(edits):
        arm_id = f"/subscriptions/{estate.SUBSCRIPTION}/resourceGroups/group-{number:05}"
        lines.append(
            f"  - {{after: 0, by: rob@example.com, with: Azure Portal, id: {arm_id}, set: {{/tags/team: web}}}}\n"
        )
    script = folder / f"drift-{edits}.yaml"
    script.write_text("".join(lines), encoding="utf-8")
    return script


def _run(name: str, folder: Path, script: Path) -> float:
    locations = (
        f"--emulator={folder / 'azure.db'}",
        f"--status-dir={folder / 'status'}",
        f"--emulator-script={script}",
    )
    flags = ("--yes",) if name == "sync" else ()
    subscription = f"--subscription={estate.SUBSCRIPTION}"
    return command("-m", "gitsync", name, subscription, *locations, *flags, folder=folder / "tree")["cpu"]


if __name__ == "__main__":
    sys.exit(main())
