"""Decides whether a request starts a long-running operation, and which: by the script, the settings, then the type."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

from gitsync.emulator.http.call import Course, ServerRequest
from gitsync.emulator.http.target import PathShape
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.stored import EmulatedOperation
from gitsync.emulator.types.behaviour import Style, Ways
from gitsync.emulator.types.recorded import ways_of

_DELETE_STYLES = {
    Style.DONE: Style.DONE,
    Style.SETTLED: Style.DONE,
    Style.RELATIVE: Style.DONE,
    Style.ACCEPTED: Style.ACCEPTED,
}
"""Every other style deletes as ACCEPTED_ASYNC: a DELETE has no body that could tell a state."""


def start_write(
    cloud: EmulatedCloud, call: ServerRequest, ways: Ways, *, created: bool
) -> tuple[EmulatedOperation | None, Style]:
    """The operation of a PUT or PATCH, stored; None if the answer completes it."""
    default_style = ways.put if created or ways.update is None else ways.update
    if call.target.shape is not PathShape.GROUP:
        default_style = cloud.settings.operations.style or default_style
    style = call.course.style or default_style
    if style.is_over and _is_slow(call.course):
        style = Style.ASYNC
    if style in {Style.DONE, Style.RELATIVE}:
        return None, style
    operation = _make_operation(cloud, call, ways, style)
    if style is Style.SETTLED:
        operation = replace(operation, over=True)
    cloud.store.put_operation(operation)
    return operation, style


def start_delete(cloud: EmulatedCloud, call: ServerRequest, ways: Ways) -> EmulatedOperation | None:
    """The operation of a DELETE, stored; None if the resource is deleted at once."""
    default_style = (
        ways.delete if call.target.shape is PathShape.GROUP else cloud.settings.operations.style or ways.delete
    )
    style = _DELETE_STYLES.get(call.course.style or default_style, Style.ACCEPTED_ASYNC)
    if style is Style.DONE and _is_slow(call.course):
        style = Style.ACCEPTED_ASYNC
    if style is Style.DONE:
        return None
    operation = _make_operation(cloud, call, ways, style)
    cloud.store.put_operation(operation)
    return operation


def start_action(cloud: EmulatedCloud, call: ServerRequest, style: Style, name: str, answer: Any) -> EmulatedOperation:
    """The operation of a POST, stored; `call` names the resource of the action, `answer` is its result."""
    course_style = call.course.style
    style = course_style if course_style is not None and course_style.is_accepted else style
    operation = replace(_make_operation(cloud, call, ways_of(call.target.type), style), action=name, answer=answer)
    cloud.store.put_operation(operation)
    return operation


def _make_operation(cloud: EmulatedCloud, call: ServerRequest, ways: Ways, style: Style) -> EmulatedOperation:
    timing, course = cloud.settings.operations, call.course
    seconds = timing.seconds if course.seconds is None else course.seconds
    retry_after = course.retry_after if course.retry_after is not None else timing.retry_after
    if retry_after is None:
        retry_after = ways.retry_after
    return EmulatedOperation(
        id=str(uuid4()),
        key=call.target.key,
        path=call.target.path,
        verb=call.method,
        style=style.value,
        api_version=call.api_version,
        started=cloud.clock.now().timestamp(),
        polls=timing.polls if course.polls is None else course.polls,
        seconds=seconds,
        retry_after=max(retry_after, 1) if seconds > 0 else retry_after,
        running="Deleting" if call.method == "DELETE" and ways.accepts_polls else ways.running,
        result=course.result,
        error=course.error,
        host=course.host,
        location=_find_location(cloud, call),
    )


def _find_location(cloud: EmulatedCloud, call: ServerRequest) -> str:
    """The region in the URL of an operation: that of the body, of the stored resource, or of an ancestor."""
    if isinstance(call.body, dict) and call.body.get("location"):
        return str(call.body["location"])
    nearest = [call.target, *reversed(call.target.ancestors)]
    stored = (cloud.store.resource(target.key) for target in nearest)
    locations = (str(resource.body["location"]) for resource in stored if resource and resource.body.get("location"))
    return next(locations, "global")


def _is_slow(course: Course) -> bool:
    return course.result != "Succeeded" or course.polls is not None or course.seconds is not None
