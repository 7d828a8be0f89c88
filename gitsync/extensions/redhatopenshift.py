"""redhatopenshift.azure.com: a cluster that is being deleted takes no changes (extensions.md §3)."""

from __future__ import annotations

from gitsync.extensions.points import Extension, Extensions
from gitsync.extensions.states import OwnState, not_in

GROUP = "redhatopenshift.azure.com"

_CLUSTER = OwnState("reconcile blocked while cluster is at status deleting", allows=not_in("deleting"))

EXTENSIONS: Extensions = (Extension(group=GROUP, kind="HcpOpenShiftCluster", pre_check=_CLUSTER),)
