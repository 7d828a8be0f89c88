"""Decides whether a request starts a long-running operation: by the script, the settings, then the type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from gitsync.emulator.http.messages import Course, ServerRequest
from gitsync.emulator.http.target import PathShape
from gitsync.emulator.lro.operations import FORCE
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import EmulatedOperation
from gitsync.emulator.types.behaviour import Style, TypeBehaviour, choose_behaviour

_DELETE_STYLES = {
    Style.DONE: Style.DONE,
    Style.SETTLED: Style.DONE,
    Style.RELATIVE: Style.DONE,
    Style.ACCEPTED: Style.ACCEPTED,
}
"""Every other style deletes as ACCEPTED_ASYNC: a DELETE has no body that could show a state."""


def start_write(
    cloud: EmulatedCloud, request: ServerRequest, behaviour: TypeBehaviour, *, created: bool
) -> tuple[EmulatedOperation | None, Style]:
    """Start the operation of a PUT or PATCH, stored; None if the answer completes it."""
    default_style = behaviour.put if created or behaviour.update is None else behaviour.update
    if request.target.shape is not PathShape.GROUP:  # the setting applies to resources only
        default_style = cloud.settings.operations.style or default_style
    style = request.course.style or default_style
    # A script with polls or a failure needs an operation, even for a type without one.
    if style.is_over and _is_slow(request.course):
        style = Style.ASYNC
    if style in {Style.DONE, Style.RELATIVE}:
        return None, style
    operation = _make_operation(cloud, request, behaviour, style)
    # The answer is complete, but carries the headers of an operation that has ended.
    if style is Style.SETTLED:
        operation = replace(operation, over=True)
    cloud.store.put_operation(operation)
    return operation, style


def start_delete(cloud: EmulatedCloud, request: ServerRequest, behaviour: TypeBehaviour) -> EmulatedOperation | None:
    """Start the operation of a DELETE, stored; None if the resource is deleted at once."""
    default_style = (
        behaviour.delete
        if request.target.shape is PathShape.GROUP
        else cloud.settings.operations.style or behaviour.delete
    )
    style = _DELETE_STYLES.get(request.course.style or default_style, Style.ACCEPTED_ASYNC)
    # A script with polls needs an operation for them.
    if style is Style.DONE and _is_slow(request.course):
        style = Style.ACCEPTED_ASYNC
    if style is Style.DONE:
        return None
    operation = _make_operation(cloud, request, behaviour, style)
    if is_forced(request):
        operation = replace(operation, action=FORCE)
    cloud.store.put_operation(operation)
    return operation


def is_forced(request: ServerRequest) -> bool:
    """Return whether a DELETE is permanent."""
    return request.query.get("force", "").casefold() == "true"


def start_action(
    cloud: EmulatedCloud, request: ServerRequest, style: Style, name: str, answer: Any
) -> EmulatedOperation:
    """Start the operation of a POST, stored; `request` names the resource of the action, `answer` is its result."""
    # An action has no body that could show a state, so only the styles of a 202 apply.
    course_style = request.course.style
    style = course_style if course_style is not None and course_style.is_accepted else style
    operation = replace(
        _make_operation(cloud, request, choose_behaviour(request.target.type), style), action=name, answer=answer
    )
    cloud.store.put_operation(operation)
    return operation


def _make_operation(
    cloud: EmulatedCloud, request: ServerRequest, behaviour: TypeBehaviour, style: Style
) -> EmulatedOperation:
    timing, course = cloud.settings.operations, request.course
    seconds = timing.seconds if course.seconds is None else course.seconds
    retry_after = course.retry_after if course.retry_after is not None else timing.retry_after
    if retry_after is None:
        retry_after = behaviour.retry_after
    return EmulatedOperation(
        id=str(uuid4()),
        key=request.target.key,
        path=request.target.path,
        verb=request.method,
        style=style.value,
        api_version=request.api_version,
        started=cloud.clock.now().timestamp(),
        polls=timing.polls if course.polls is None else course.polls,
        seconds=seconds,
        # Without it a client would poll without pauses until the time is over.
        retry_after=max(retry_after, 1) if seconds > 0 else retry_after,
        running="Deleting" if request.method == "DELETE" and behaviour.accepts_polls else behaviour.running,
        result=course.result,
        error=course.error,
        host=course.host,
        location=_choose_location(cloud, request),
    )


def _choose_location(cloud: EmulatedCloud, request: ServerRequest) -> str:
    """Choose the region in the URL of an operation: that of the path, of the body, of the stored resource, or of an
    ancestor.
    """
    if request.target.types and request.target.types[0].casefold() == "locations":
        return request.target.names[0]
    if isinstance(request.body, dict) and request.body.get("location"):
        return str(request.body["location"])
    nearest = [request.target, *reversed(request.target.ancestors)]
    stored = (cloud.store.resource(target.key) for target in nearest)
    locations = (str(resource.body["location"]) for resource in stored if resource and resource.body.get("location"))
    return next(locations, "global")


def _is_slow(course: Course) -> bool:
    return course.result != "Succeeded" or course.polls is not None or course.seconds is not None
