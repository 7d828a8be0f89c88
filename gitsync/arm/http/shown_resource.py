"""Checks that the answer to a GET shows the requested resource.

An answer that is not the resource is an error: it does not say that the resource is absent, and nothing is compared
with it, sent because of it, or deleted because of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.arm.http.answer import Response
from gitsync.arm.lro.reply import read_live
from gitsync.errors import ArmError
from gitsync.formats.arm_path import is_same_id
from gitsync.model.live import Live

MALFORMED = "MalformedResource"
_PROVIDERS = "/providers/"


def read_shown_resource(answer: Response, arm_id: str) -> Live:
    """The resource that an answer to a GET shows. Raises ArmError (code MalformedResource) if it shows
    another one, or none.
    """
    if fault := find_fault(answer.body, arm_id):
        raise ArmError(
            f"The response to GET {arm_id} is not that resource: {fault}.",
            status=answer.status,
            code=MALFORMED,
            request_id=answer.request_id,
            resource_id=arm_id,
            method="GET",
            hint="Check the endpoint, and any proxy between gitsync and Azure. gitsync does not change the resource.",
        )
    return read_live(answer)


def is_shown(answer: Response, arm_id: str) -> bool:
    """Tell whether an answer shows the resource."""
    return not find_fault(answer.body, arm_id)


def find_fault(body: Any, arm_id: str) -> str:
    """What is wrong with a body that should show the resource; "" if nothing is."""
    if not isinstance(body, dict):
        return "it is not a JSON object"
    shown_id = body.get("id")
    if not isinstance(shown_id, str):
        return "it has no id"
    if not _is_id_of(shown_id, arm_id):
        return "it has the id of another resource"
    if not isinstance(body.get("type"), str | None):
        return "its type is not a string"
    return _find_fault_of_properties(body.get("properties"))


def _find_fault_of_properties(properties: Any) -> str:
    if properties is None:
        return ""
    if not isinstance(properties, Mapping):
        return "its properties are not an object"
    if not isinstance(properties.get("provisioningState"), str | None):
        return "its provisioningState is not a string"
    return ""


def _is_id_of(shown: str, requested: str) -> bool:
    """Tell whether an id names the requested resource.

    Azure shows some resources at a scope further up: a role definition of a resource group has the id of one of the
    subscription. It also writes the name of a region without blanks.
    """
    shown, requested = shown.replace(" ", ""), requested.replace(" ", "")
    if is_same_id(shown, requested):
        return True
    (scope, _, name), (requested_scope, _, requested_name) = _split_id(shown), _split_id(requested)
    return bool(requested_name) and name == requested_name and f"{requested_scope}/".startswith(f"{scope}/")


def _split_id(arm_id: str) -> tuple[str, str, str]:
    """The scope of an id, and after the separator type and name; all in lower case."""
    return arm_id.rstrip("/").casefold().rpartition(_PROVIDERS)
