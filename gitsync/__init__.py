"""gitsync brings Azure to the desired state in a git repository of ASO-shaped manifests.

The map of the package, from the command down to what everything may use; imports point downwards:

    cli/            one module for each command; command_table.py lists them, main.py starts one
    workflows/      around a run, which needs none of them: accept, audit, doctor, imports, rehearsal, unmanaged
    api.py          the runs as functions: sync() and plan()
    agent/          one run (run/) and one resource in it (reconcile/): the only wing that joins decisions with
                    requests; what Azure would refuse (checks/), who changed a resource (attribution/), messages
                    (notifications/)
    extensions/     what some kinds do in addition, and the API for other packages
    providers/      what gitsync changes, by its protocol: Azure Resource Manager (arm/), groups (entra/), databases/
    repository/     where desired state, records and secrets are kept: git/, the units of a source (units/), secrets/
    report/         a report as text, JSON, Markdown, HTML, JUnit and SARIF, and as a comment; progress
    emulator/       an emulated Azure Resource Manager, with faults
    planning/       the graph of applies and prunes; what may be deleted; where git, the last write and Azure differ,
                    and by which rule (diff/); what a result means: conditions, error classes, advice (status/)
    desired/        what git declares: from bytes to manifests/, the facts of every kind (catalog/), every problem
                    that can be found offline (validation/, problems/), the ARM request of a manifest (request/),
                    cel/, editor/, formats/
    settings/       what the wings above may use: config/, the start of programs (processes/), files/, logs, redaction
    model/          the nouns: keys, ARM ids, resources, conditions, records, results; frozen, with little behaviour
    errors.py       the exceptions, as a tree

docs/architecture.md follows one manifest through all of it. A name has one import path: packages re-export nothing.
"""

from collections.abc import Mapping
from functools import cache

__version__ = "0.1.0"

DISTRIBUTION = "gitsync-azure"
"""What pip installs: `gitsync` is another project on PyPI."""


@cache
def list_addresses() -> Mapping[str, str]:
    """The addresses of the project by their labels, such as `Homepage`. A package that no pipeline built has none."""
    from importlib.metadata import PackageNotFoundError, metadata  # noqa: PLC0415 - few ask, and it takes time

    try:
        lines = metadata(DISTRIBUTION).get_all("Project-URL") or ()
    except PackageNotFoundError:
        return {}
    return {label: address for label, _, address in (line.partition(", ") for line in lines)}
