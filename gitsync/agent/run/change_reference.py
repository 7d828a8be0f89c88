"""The reference of the change that a run carries out, as Azure Policy gets it with a request for a policy token."""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.repository.git.source.checkout import Checkout
from gitsync.settings.config.hosts import find_job_url


def make_change_reference(source: Checkout, environment: Mapping[str, str]) -> str:
    """Make the reference: the commit of the manifests, and in a pipeline the page of the job; "" with neither."""
    # Files with uncommitted changes are not those of a commit.
    commit = "" if source.dirty else source.revision or ""
    return " ".join(filter(None, (commit, find_job_url(environment))))
