"""One resource on the page: a folded card if it has details, else a row of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from gitsync.model.gvk import Key
from gitsync.model.result import Attempt, Result
from gitsync.model.verdict import Action
from gitsync.report.escape import shorten
from gitsync.report.headline import format_plural
from gitsync.report.html.anchors import make_anchor
from gitsync.report.html.changes import render_differences
from gitsync.report.html.grouping import GroupName
from gitsync.report.html.looks import LOOKS, find_tone
from gitsync.report.html.markup import NOTHING, Markup, code, element, facts, joined, prose, table, text
from gitsync.report.html.summary import render_badge
from gitsync.status.advice import find_condition_advice

_LONGEST_MESSAGE = 4000  # characters
_MOST = 200  # attempts, or paths that were not compared, or resources that are needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a resource is shown among: names and resource groups of all, those that the page has and links can lead to,
    and whose the side is that git's is compared with.
    """

    names: Mapping[Key, str]
    places: Mapping[Key, GroupName]
    listed: AbstractSet[Key]
    before: str


def render_card(result: Result, around: Around, *, opened: bool, body: Markup) -> Markup:
    """A resource that folds: what one sees at once, and the rest."""
    look = LOOKS[result.verdict]
    told = (result.key.namespace, str(result.source or ""), *_counts(result))
    head = element(
        "summary",
        render_badge(result.verdict.value, look.sign, find_tone(result)),
        element("span", text(around.names[result.key]), class_="title"),
        element("span", text(" · ".join(part for part in told if part)), class_="more"),
    )
    return element(
        "details",
        head,
        body,
        class_=f"resource card {find_tone(result).css}",
        open=opened,
        **_marks(result, around.places[result.key]),
    )


def render_row(result: Result, around: Around) -> Markup:
    """A resource that is in sync and has no details."""
    return element(
        "tr",
        element("th", text(around.names[result.key]), scope="row"),
        element("td", text(result.key.namespace), data_title="Namespace"),
        element("td", text(str(result.source or "")), data_title="Manifest"),
        element("td", code(result.arm_id or ""), data_title="ARM id"),
        element("td", _unverified(result), data_title="Not compared"),
        class_="resource",
        **_marks(result, around.places[result.key]),
    )


def _marks(result: Result, place: GroupName) -> dict[str, str]:
    """What filters go by."""
    return {
        "id": make_anchor(result.key),
        "data_verdict": result.verdict.value,
        "data_kind": result.key.kind,
        "data_namespace": result.key.namespace,
        "data_place": place.id,
    }


def _counts(result: Result) -> Iterator[str]:
    if result.action is not Action.NONE:
        yield result.action.value
    if result.differences:
        yield format_plural(len(result.differences), "difference")
    if result.attempts:
        yield format_plural(len(result.attempts), "failed try").replace("trys", "tries")
    if result.condition.reason not in {"Succeeded", "Planned"}:
        yield result.condition.reason


def render_details(result: Result, around: Around) -> Markup:
    """What a resource shows when it is unfolded."""
    parts = (
        _message(result),
        _advice(result),
        render_differences(result.differences, around.before),
        _unverified(result),
        _attempts(result.attempts),
        _facts(result, around),
    )
    return element("div", *parts, class_="inside")


def _message(result: Result) -> Markup:
    condition = result.condition
    if not condition.message:
        return NOTHING
    said = element("p", text(shorten(condition.message, _LONGEST_MESSAGE)), class_="message")
    request = f"Request id {condition.request_id}" if condition.request_id else ""
    return joined([said, element("p", text(request), class_="note") if request else NOTHING])


def _advice(result: Result) -> Markup:
    told = find_condition_advice(result.condition, result.key)
    return element("p", element("strong", text("What to do: ")), prose(told)) if told else NOTHING


def _facts(result: Result, around: Around) -> Markup:
    condition = result.condition
    ready = " ".join(part for part in (condition.status.value, condition.severity.value, condition.reason) if part)
    return facts(
        (
            ("ARM id", code(result.arm_id or "")),
            ("Manifest", code(str(result.source or ""))),
            ("API version", text(result.manifest_api_version)),
            ("Owner", _links([result.owner] if result.owner else [], around)),
            ("Depends on", _links(sorted(set(result.depends_on) - {result.owner}), around)),
            ("Policy", text(result.policy.value)),
            ("Action", text(result.action.value)),
            ("Ready", text(ready)),
            ("Since", element("time", text(condition.time), datetime=condition.time) if condition.time else NOTHING),
            ("Requests", text(str(result.requests))),
        )
    )


def _links(keys: Sequence[Key], around: Around) -> Markup:
    links = [
        element("a", text(around.names[key]), href=f"#{make_anchor(key)}") if key in around.listed else text(str(key))
        for key in keys[:_MOST]
    ]
    more = len(keys) - _MOST
    return joined([*links, text(f"and {more} more")] if more > 0 else links, text(", "))


def _unverified(result: Result) -> Markup:
    """Paths of the desired state that Azure does not return, folded."""
    paths = sorted(result.unverified)
    if not paths:
        return NOTHING
    left_out = [element("li", text(f"… and {len(paths) - _MOST} more"))] if len(paths) > _MOST else []
    items = (element("li", code(path), _reason(result.because.get(path, ""))) for path in paths[:_MOST])
    head = f"{format_plural(len(paths), 'path')} not compared: Azure does not return them"
    return element("details", element("summary", text(head)), element("ul", *items, *left_out), class_="unverified")


def _reason(because: str) -> Markup:
    return text(f": {because}") if because else NOTHING


def _attempts(attempts: Sequence[Attempt]) -> Markup:
    if not attempts:
        return NOTHING
    rows = [
        element(
            "tr",
            element("th", element("time", text(attempt.at), datetime=attempt.at), scope="row"),
            element("td", text(attempt.stage.value), data_title="Stage"),
            element("td", text(f"{attempt.status or ''} {attempt.code}".strip()), data_title="Answer"),
            element("td", text(shorten(attempt.message, _LONGEST_MESSAGE)), data_title="Message"),
            element("td", code(attempt.request_id), data_title="Request id"),
        )
        for attempt in attempts[:_MOST]
    ]
    more = len(attempts) - _MOST
    caption = "Failed attempts" + (f", the first {_MOST} of {len(attempts)}" if more > 0 else "")
    head = ("When", "Stage", "Answer", "Message", "Request id")
    return table(text(caption), head, rows, class_="attempts")
