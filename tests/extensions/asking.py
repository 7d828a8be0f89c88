"""Checks of what is built in, in a line: what would a check report, and of which class is a refusal?"""

from __future__ import annotations

from gitsync.errors import ArmError
from gitsync.extensions.api import Subject
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.extensions.registry import Registry
from gitsync.model.gvk import GVK, Key
from gitsync.model.live import Live
from gitsync.planning.status.error_classes import Classification
from tests.support.builders import vnet_id

REGISTRY = Registry(BUILT_IN)


class Nobody:
    """A reader that nothing may be read from: these checks look at what they are given."""

    async def get(self, arm_id, api_version):
        raise AssertionError(arm_id)

    async def list(self, path, api_version):
        raise AssertionError(path)


def with_(**properties) -> Live:
    """A live resource with these properties alone; those that are None are left out."""
    return Live(body={"properties": {name: value for name, value in properties.items() if value is not None}})


def subject(group: str, kind: str, *, own=None, owner=None, owner_name="boss") -> Subject:
    return Subject(
        key=Key(group, kind, "default", "it"),
        gvk=GVK(group, "v", kind),
        spec={},
        arm_id=vnet_id(),
        api_version="2024-01-01",
        live=own,
        owner=owner,
        owner_name=owner_name,
    )


async def requested(check, about: Subject) -> str:
    return (await check(about, Nobody())).reason


async def owner_check(group: str, kind: str, owner: Live | None) -> str:
    return await requested(REGISTRY.owner_check, subject(group, kind, owner=owner))


async def pre_check(group: str, kind: str, own: Live | None) -> str:
    return await requested(REGISTRY.pre_check, subject(group, kind, own=own))


async def post_check(group: str, kind: str, own: Live | None, **more) -> str:
    return await requested(REGISTRY.post_check, subject(group, kind, own=own, **more))


def class_of(group: str, kind: str, code: str, message: str = "No.", status: int = 400) -> Classification:
    return REGISTRY.classify(ArmError(message, code=code, status=status), (group, kind))
