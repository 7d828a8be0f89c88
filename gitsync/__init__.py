"""gitsync brings Azure to the desired state in a git repository of ASO-shaped manifests.

The map of the package, from the command down to what everything may use; imports point downwards:

    cli/            one module a command; command_table.py lists them, main.py starts one
    accept/         drift accepted into git: which fields, in which text, proven, as a pull request
    api.py          the runs as functions: sync() and plan()
    doctor/         the checks of a set-up: tools, git, the identity and its rights
    rehearsal/      a sync simulated in the emulator before it runs
    audit/          who wrote the resources in git: runs, or others
    unmanaged/      what exists in Azure and is not in git
    run/            one run: load, prepare, plan, reconcile, write status; run.py is where it starts
    reconcile/      one resource: its stages, in the order that reconcile.py gives
    notifications/  one message when the state of the estate changes
    imports/        manifests of what exists in Azure: found, converted, written, proven
    attribution/    who changed a resource in Azure: Resource Graph and the activity log
    checks/         what Azure would refuse, checked before a change
    extensions/     what some kinds do in addition, and the API for other packages
    databases/      users of PostgreSQL and MySQL, on their servers
    entra/          Entra ID groups, through Microsoft Graph
    arm/            the edge to Azure: sign-in, requests, throttling, long-running operations
    git/            the edge to git: sources, the status branch and folder
    secrets/        the edge to Secrets and ConfigMaps: sources, sinks, Key Vault, Kubernetes
    report/         a report as text, JSON, Markdown, HTML, JUnit and SARIF, and as a comment; progress
    editor/         JSON Schemas, example manifests, and the files of a new repository
    emulator/       an emulated Azure Resource Manager, with faults
    cel/            the expressions of exports: parsed, checked, evaluated
    units/          the parts of a source that are built on their own: kustomizations
    planning/       the graph of applies and prunes; what may be deleted
    diff/           where git, the last write and Azure differ, and by which rule
    status/         the meaning of a result: conditions, error classes, advice, exit codes
    request/        from a manifest to the ARM request that it stands for
    validation/     every problem that can be found offline
    manifests/      from bytes to manifests
    catalog/        the facts of every kind
    problems/       what a check reports
    formats/        strict JSON, JSON pointers, entries of lists that belong together, names from ARM ids
    redaction.py    the secret values that nothing may show
    config/         settings: declared, loaded, checked
    processes/      programs that gitsync starts
    files/          where outputs are written: paths whose links are checked, files written atomically
    logging.py      where logs go
    backoff.py      when what failed is tried again
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
