"""The policy of what left git: that of its last manifest, which may have changed since the last run.

Somebody who sets detach-on-delete in one commit and removes the manifest in the next, before a run in between, means
the resource to stay (DESIGN §4, Prune).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from gitsync.config import Config
from gitsync.core.manifests import read_manifests
from gitsync.core.policy import policy_of
from gitsync.model.gvk import Key
from gitsync.model.policy import Policy
from gitsync.repo.checkout import Checkout

FURTHEST = 50
"""Revisions that are looked at, newest first; beyond them the recorded policy counts."""


def last_policies(
    source: Checkout, gone: Collection[Key], since: str | None, config: Config, namespace: str
) -> dict[Key, Policy]:
    """Return the policy that the last manifest of each resource states, as far as history can be read.

    `since` is the revision that the records speak of. What is not found keeps its recorded policy.
    """
    if not gone or since is None:
        return {}
    found: dict[Key, Policy] = {}
    for revision in (*source.revisions_since(since)[:FURTHEST], since):
        if len(found) == len(gone):
            break
        files = source.files_at(revision)
        if files is not None:
            found = {**_policies(files, gone, config, namespace), **found}
    return found


def _policies(files: Mapping[str, bytes], gone: Collection[Key], config: Config, namespace: str) -> dict[Key, Policy]:
    manifests = read_manifests(files, namespace=namespace)
    stated = {
        resource.key: policy_of(resource, manifests.namespaces, Policy(config.default_policy))
        for resource in manifests.resources
        if resource.key in gone
    }
    return {key: policy for key, policy in stated.items() if policy is not None}
