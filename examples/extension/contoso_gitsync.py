"""Contoso's rules for storage accounts, in addition to Azure's: no changes in a freeze, and a person's approval.

A worked example of an extension for gitsync: a check before a write, a check after it, and a rule for an error.
"""

from __future__ import annotations

from collections.abc import Callable

from gitsync.errors import ArmError
from gitsync.extensions.api import CheckResult, Extension, NextCheck, ReadsAzure, Subject, block, failure
from gitsync.planning.status.error_classes import Classification

APPROVAL = "approvedBy"
FREEZE = "changeFreeze"
RESOURCES_API_VERSION = "2021-04-01"


async def no_change_in_a_freeze(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:
    """Nothing is written while the resource group has the tag `changeFreeze`: the run waits, and names a contact."""
    group = await azure.get(subject.arm_id.partition("/providers/")[0], RESOURCES_API_VERSION)
    freeze = _tag(group.body if group else {}, FREEZE)
    if freeze:
        return block(f"Changes are frozen by {freeze}: the resource group has the tag {FREEZE}.")
    return await next(subject, azure)


async def somebody_approved(subject: Subject, azure: ReadsAzure, next: NextCheck) -> CheckResult:
    """An account is Ready once somebody has tagged it in Azure as approved.

    A PUT sets all tags, and git does not have this one: each change in git removes it, and wants an approval of its
    own.
    """
    if not _tag(subject.live.body if subject.live else {}, APPROVAL):
        return failure(f"The account is not approved yet: tag it {APPROVAL} with your name.")
    return await next(subject, azure)


def a_taken_name_is_for_people(error: ArmError, next: Callable[[ArmError], Classification]) -> Classification:
    """Names of storage accounts are the world's: if another company has one, trying again does not free it."""
    return Classification.FATAL if error.code == "StorageAccountAlreadyTaken" else next(error)


def _tag(body: object, name: str) -> str:
    tags = body.get("tags") if isinstance(body, dict) else None
    return str(tags.get(name, "")) if isinstance(tags, dict) else ""


EXTENSIONS = (
    Extension(
        group="storage.azure.com",
        kind="StorageAccount",
        pre_check=no_change_in_a_freeze,
        post_check=somebody_approved,
        classify=a_taken_name_is_for_people,
    ),
)
