"""The credentials that clusters give out: kubeconfigs, and the password of their first user."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types.keys import KeyListing, key

_TEXT = """\
apiVersion: v1
kind: Config
clusters:
- name: {name}
  cluster:
    server: https://{name}.api.emulated.example:443
contexts:
- name: {name}
  context:
    cluster: {name}
    user: {user}
current-context: {name}
users:
- name: {user}
  user:
    token: {token}
"""
_EXPIRES = "2099-12-31T23:59:59Z"
"""Far in the future, so that the credential is valid whatever the clock of the reader."""


def _make_kubeconfig(resource: StoredResource, user: str) -> str:
    return _TEXT.format(name=parse(resource.id).name, user=user, token=key(resource.id, user))


def _encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _make_user_listing(user: str) -> KeyListing:
    """The list of AKS and of fleets: one kubeconfig, base64."""
    return lambda resource: {"kubeconfigs": [{"name": user, "value": _encode_base64(_make_kubeconfig(resource, user))}]}


def _list_admin(resource: StoredResource) -> dict[str, Any]:
    return {"kubeconfig": _encode_base64(_make_kubeconfig(resource, "admin"))}


def _list_password(resource: StoredResource) -> dict[str, Any]:
    return {"kubeadminPassword": key(resource.id, "kubeadmin"), "kubeadminUsername": "kubeadmin"}


def requested(resource: StoredResource) -> dict[str, Any]:
    """The final answer of a hosted control plane: a kubeconfig as text, and its expiry."""
    return {"expirationTimestamp": _EXPIRES, "kubeconfig": _make_kubeconfig(resource, "admin")}


CLUSTER_KEYS: Mapping[tuple[str, str], KeyListing] = {
    ("microsoft.containerservice/fleets", "listcredentials"): _make_user_listing("fleetUser"),
    ("microsoft.containerservice/managedclusters", "listclusteradmincredential"): _make_user_listing("clusterAdmin"),
    ("microsoft.containerservice/managedclusters", "listclusterusercredential"): _make_user_listing("clusterUser"),
    ("microsoft.redhatopenshift/openshiftclusters", "listadmincredentials"): _list_admin,
    ("microsoft.redhatopenshift/openshiftclusters", "listcredentials"): _list_password,
}
