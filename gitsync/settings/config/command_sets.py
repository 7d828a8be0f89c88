"""The commands that take a setting, by what they do: a row of a setting joins these sets."""

from __future__ import annotations

PLAN = frozenset({"plan"})
SYNC = frozenset({"sync"})
REVERT = frozenset({"revert"})  # a plan and a sync of what it names, which deletes and adopts nothing
RUNS = PLAN | SYNC | REVERT
ACCEPT = frozenset({"accept"})
ACKNOWLEDGE = frozenset({"acknowledge"})  # a plan of what it names, which it records; writes nothing to Azure
KEEPS = ACCEPT | ACKNOWLEDGE  # keep what changed in Azure, by a plan
NAMED = REVERT | ACKNOWLEDGE  # take the names of resources as arguments
REHEARSE = frozenset({"rehearse"})  # simulates a sync: takes what decides about it, and no identity
LOOKS = frozenset({"audit", "unmanaged"})  # compare Azure with manifests and records, and reconcile nothing
SET_UP = RUNS | {"doctor"}  # doctor checks what a run would use
MANIFESTS = SET_UP | REHEARSE | ACKNOWLEDGE | {"eval", "export", "graph", "render", "shards", "validate"}
ESTATE = MANIFESTS | ACCEPT | LOOKS  # need to know all that git has
SOURCE = MANIFESTS | LOOKS | {"describe", "status"}
SITE = frozenset({"site"})  # reads what the status branches of several sources have
RECORDS = SET_UP | KEEPS | LOOKS | SITE | {"describe", "eval", "shards", "status"}
AZURE = SET_UP | KEEPS | LOOKS | {"eval", "import"}
PRINTING = SOURCE | ACCEPT | {"compare", "explain", "import"}
REPORT = frozenset({"report"})  # reads and writes what workers have recorded, and no manifests
EVERY_COMMAND = frozenset({"*"})
