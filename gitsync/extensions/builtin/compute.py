"""compute.azure.com: a scale set embeds its extensions, which are also added by others
(docs/reference/kinds.md#embedded-children), and what refusals mean (docs/reference/kinds.md#error-overrides).
"""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.extensions.factories.kept_children import ChildShape, keep_children, merge_by_name

GROUP = "compute.azure.com"


def scale_set_extension(api_version: str) -> ChildShape:
    """What may be sent of a scale set's extension."""
    names = (
        "autoUpgradeMinorVersion enableAutomaticUpgrade forceUpdateTag protectedSettings provisionAfterExtensions "
        "publisher settings type typeHandlerVersion"
    )
    properties: dict[str, object] = dict.fromkeys(names.split())
    # Versions begin with a date, so they compare as texts.
    if api_version >= "2022-03-01":
        properties["suppressFailures"] = None
        properties["protectedSettingsFromKeyVault"] = {"secretUrl": None, "sourceVault": {"id": None}}
    return {"name": None, "properties": properties}


_REFUSALS = (
    ErrorRule(kind="Disk", code="BadRequest", matches="DiskAccess.*not found"),
    ErrorRule(kind="Disk", code="Conflict", matches="DiskAccess.*is in failed state."),
    ErrorRule(kind="VirtualMachine", code="OperationNotAllowed"),
    ErrorRule(kind="VirtualMachineScaleSet", code="OperationNotAllowed"),
)

EXTENSIONS: Extensions = (
    Extension(
        group=GROUP,
        kind="VirtualMachineScaleSet",
        modify=keep_children(
            ("properties", "virtualMachineProfile", "extensionProfile", "extensions"),
            scale_set_extension,
            # A manifest may have extensions itself, so those in Azure must not replace them.
            merge_by_name,
            # A flexible scale set may have no profile of machines, and so no list of extensions.
            optional=True,
        ),
    ),
    *make_classifiers(GROUP, _REFUSALS),
)
