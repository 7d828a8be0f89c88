"""gitsync brings Azure Resource Manager to what a git repository of ASO-shaped manifests says.

The map of the package, in the order in which it is best read:

    model/          the nouns: keys, resources, conditions, records, results; frozen, without behaviour
    errors.py       the exceptions, drawn as a tree
    config.py       every setting
    setting.py      what is to be known of one
    values.py       the text of a setting as its value
    configfile.py   gitsync.yaml: which settings it may give
    source_settings.py  what a source gives for itself
    api.py          the runs as functions: sync() and plan()
    sync.py         the run: checkout, parse, prepare, plan, refuse, walk, record
    rehearsal.py    a plan of two revisions, which asks Azure nothing
    edges.py        what a run works with, opened from the settings
    vaults.py       the places of secrets, opened likewise
    preparing.py    from files to resources made ready for ARM
    given.py        what a run begins with: what git says, and as whom each resource is reconciled
    planning.py     from a checkout to one plan
    sharing.py      makes what all nodes of a run share
    reviewing.py    a plan that somebody reviewed: written down, and held to
    walk.py         in which order nodes run
    reconcile.py    one node, stage by stage
    stages/         the stages, each a function from one turn to the next
    shared.py       what all nodes of a run share
    turn.py         what is known of a node while its stages pass
    outcome.py      what comes of a turn: the result, and the record
    accounts.py     as whom each node is reconciled
    memory.py       what one run did so far, for the nodes that come after
    history.py      how resources left git, and with which policy
    recording.py    write-back, before the first write and after the last
    core/           the decisions: parse, convert, compare, plan, validate; pure functions
    cel/            the expressions of exports: read, checked, evaluated
    extensions/     what single kinds do besides, and how to add to it
    arm/            the edge to Azure: requests, throttling, operations, credentials
    repo/           the edge to git: checkout, the status branch or folder
    vault/          the edge to secrets and config maps
    report/         a report as text, JSON, Markdown, HTML, JUnit and SARIF, and progress
    emulator/       an Azure Resource Manager of its own, with faults
    cli/            one module a command; main.py is the frame
    programs.py     starts git, kustomize and sops: what each gets of the environment, and how long it may run
    grace.py        how long they may still run once the run is told to end
    logs.py         where logs go
    redactions.py   the secret values that nothing may show
    data/           the packed facts of all kinds

Imports point one way, from cli down to model, config, logs and errors; the layers stand in pyproject.toml. A name has
one import path: packages re-export nothing.
"""

__version__ = "0.1.0"
