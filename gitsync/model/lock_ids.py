"""The ids of management locks (`Microsoft.Authorization/locks`), which extend what they hold for."""

from __future__ import annotations

from typing import Final

from gitsync.model.arm_id import ArmId

LOCK_TYPE: Final = "Microsoft.Authorization/locks"
_LOCKS: Final = f"/providers/{LOCK_TYPE.casefold()}/"


def is_lock(arm_id: ArmId) -> bool:
    return _LOCKS in arm_id.key


def find_scope(arm_id: ArmId) -> ArmId:
    """Return the id that a lock is set on; it holds for all below, too."""
    return ArmId(arm_id[: arm_id.key.rfind(_LOCKS)])
