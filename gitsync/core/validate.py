"""Every problem of the manifests that can be told offline, in one go (spec: semantics §5, §6, §7.1, §17; DESIGN §4).

The two entry points of validation. `validate_resource` looks at one manifest and its kind; `validate_set` at what
manifests say of each other. Neither stops at the first problem, and neither raises for a bad manifest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from gitsync.core.catalog import Catalog
from gitsync.core.member import Member
from gitsync.model.facts import Kind
from gitsync.model.problem import Problem
from gitsync.model.resource import Resource

UnknownFields = Literal["error", "warn"]


def validate_resource(
    resource: Resource, kind: Kind | None, *, catalog: Catalog, unknown_fields: UnknownFields = "error"
) -> tuple[Problem, ...]:
    """Every problem of one manifest alone, in the order of its file: shape, constraints, owner and reference forms,
    names, exports, annotations. A `kind` of None (outside the catalog) is itself the problem that is told.
    """
    raise NotImplementedError


def validate_set(
    members: Sequence[Member], *, catalog: Catalog, namespaces: Mapping[str, Mapping[str, str]]
) -> tuple[tuple[Problem, ...], ...]:
    """What manifests say of each other: duplicates, missing owners and references, cycles, one ARM id twice.

    The answer has one tuple a member, in the order of `members`: a key may stand twice. `namespaces` has the
    annotations of Namespace manifests: an unknown reconcile policy there is a problem of every resource that takes it.
    """
    raise NotImplementedError
