"""`python -m bench.requests`: how many requests a silent second run takes, with good lists and with bad ones.

The estate has 21 resources in each of 50 groups (tests/support/plain_estate.yaml). Counts do not depend on the machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.emulator.http.messages import ListFault
from gitsync.emulator.settings import Timing
from tests.support.plain_estate import plain_estate
from tests.support.world import World

GROUPS = 50

TRIMMED, EMPTY = ListFault(trim=("/properties", "/tags")), ListFault(missing=("*",))
STALE, REFUSED = ListFault(stale=1e9), Canned(code="MethodNotAllowed", status=405)

SCENARIOS: Mapping[str, Mapping[str, ListFault | Canned]] = {
    "all lists good": {},
    "a third of the types: top-level lists trimmed, empty, stale and refused": {
        "microsoft.keyvault/vaults": TRIMMED,
        "microsoft.containerregistry/registries": EMPTY,
        "microsoft.network/publicipaddresses": REFUSED,
        "microsoft.operationalinsights/workspaces": STALE,
        "microsoft.storage/storageaccounts": STALE,
    },
    "a third of the types: parents and children": {
        "microsoft.network/virtualnetworks": TRIMMED,
        "microsoft.network/networksecuritygroups": EMPTY,
        "microsoft.network/networksecuritygroups/securityrules": REFUSED,
        "microsoft.storage/storageaccounts/blobservices/containers": TRIMMED,
        "microsoft.servicebus/namespaces": STALE,
    },
    "every list refused": {"*": REFUSED},
}


def main() -> int:
    """Print a row for each scenario, and give the exit code: 1 if a run was not silent."""
    is_silent = True
    with tempfile.TemporaryDirectory(prefix="gitsync-bench-") as folder:
        world = World(Path(folder), operations=Timing(polls=0))
        world.says(**plain_estate(GROUPS)).sync()
        size = len(world.sync(reads="each").results)
        print(f"{len(world.requests) / size:5.2f}  --reads each, {size} resources")
        for name, faults in SCENARIOS.items():
            world.settings = replace(world.settings, rules=tuple(map(_make_rule, faults, faults.values())))
            is_silent &= world.sync().summary == {"in-sync": size}
            print(f"{len(world.requests) / size:5.2f}  {name}")
    return 0 if is_silent else 1


def _make_rule(arm_type: str, fault: ListFault | Canned) -> FaultRule:
    match = Match(lists=True, type=arm_type)
    return (
        FaultRule(match=match, answer=fault) if isinstance(fault, Canned) else FaultRule(match=match, list_fault=fault)
    )


if __name__ == "__main__":
    sys.exit(main())
