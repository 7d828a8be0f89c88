"""Opens pull requests for accepted drift: one for each actor and correlation id, kept up to date, and closed when the
drift is gone. Nothing is ever merged.

The branch of a request is named after the resources and fields that drifted, not after their values, so the same drift
has the same request. The first line of its text, which no page shows, has a digest of the values, and one of the text.
What a person did stays: commits on the branch, and a request that was closed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gitsync.desired.problems.field_path import format_field
from gitsync.errors import ConfigError
from gitsync.model.attribution import Attribution, AuthorKind, Who
from gitsync.model.edit import REMOVED
from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.verdict import DRIFTED, Verdict
from gitsync.report.author_texts import format_change
from gitsync.report.escape import format_code, format_value, shorten
from gitsync.report.hosts.host import HostUse, PullRequest, PullRequestHost, RequestState
from gitsync.report.hosts.opening import open_host
from gitsync.report.markdown import select_fitting
from gitsync.report.wording import shorten_revision
from gitsync.repository.git.git_access import Remote
from gitsync.repository.git.source.checkout import find_remote
from gitsync.repository.git.source.clone import list_advertised
from gitsync.repository.git.source.worktree import Head, WorkTree
from gitsync.workflows.accept.drift import Accepted, DriftedResource, NotAccepted
from gitsync.workflows.accept.publish import (
    Branches,
    DriftCommit,
    Publication,
    Published,
    PublishedAs,
    make_change,
    make_title,
    open_branches,
    open_repository,
    quote_field,
    read_files,
)

_MARK: Final = "<!-- gitsync accept"
_PREFIX: Final = "gitsync/accept/"
_CLOSED: Final = "<!-- gitsync accept: closed -->"
"""The first line of a request that gitsync closed: the same drift may open another one."""

_LONGEST: Final = 200  # characters
_RESERVE: Final = 500  # characters for the first line, the link, and sentences about what is left out
_INTRODUCTION: Final = (
    "Azure has other values here than the manifests. This request puts Azure's values into the manifests; once it is "
    "merged, a plan shows no difference in these fields. To restore the values from git in Azure instead, close the "
    "request and run `gitsync revert`."
)
_COMPARED: Final = DRIFTED | {Verdict.IN_SYNC, Verdict.PENDING}
_COLUMNS: Final = ("Resource", "Field", "In git", "In Azure", "Manifest")


def group_drift(
    resources: Sequence[DriftedResource], *, together: bool = False
) -> tuple[tuple[DriftedResource, ...], ...]:
    """Group drift by who made it: an actor and a correlation id. What is known of no author is one group. A resource
    that several have changed is in several groups, each with its fields. With `together` there is one group.
    """
    groups: dict[tuple[str, ...], dict[str, DriftedResource]] = {}
    for resource in sorted(resources, key=lambda resource: resource.arm_id.key):
        identity = _identify(_find_author(resource))
        # A deleted resource has no fields whose author could differ from its own.
        if together or not resource.fields:
            groups.setdefault(() if together else identity, {})[resource.arm_id] = resource
            continue
        for field in resource.fields:
            group = groups.setdefault(_identify(field.changed_by) or identity, {})
            known = group.get(resource.arm_id, replace(resource, fields=()))
            group[resource.arm_id] = replace(known, fields=(*known.fields, field))
    return tuple(tuple(groups[author].values()) for author in sorted(groups))


def _find_author(resource: DriftedResource) -> Attribution | None:
    """Find who changed a resource; None unless it is just one."""
    known = [change for change in resource.changed_by if not change.doubt]
    return known[0] if len(known) == 1 else None


def _identify(change: Attribution | None) -> tuple[str, ...]:
    if change is None or change.doubt or change.author is AuthorKind.UNKNOWN:
        return ()
    return change.author.value, change.name, change.correlation_id


@dataclass(frozen=True, slots=True)
class Examined:
    """What a plan shows of drift, all as `quote_field` writes it."""

    resources: frozenset[str] = frozenset()
    """Those whose drift it shows in full, except in the fields that were left out."""

    left: frozenset[str] = frozenset()  # the fields that were left out

    def knows(self, field_name: str) -> bool:
        """Return whether the plan would have found drift of a field."""
        arm_id, _, field = field_name.partition(" ")
        left = [field_name.partition(" ")[2] for field_name in self.left if field_name.partition(" ")[0] == arm_id]
        # Whether a resource was deleted, which has no field, is known without the fields that were left.
        overlaps = any(
            not pointer or (field and (pointer.startswith(field) or field.startswith(pointer))) for pointer in left
        )
        return arm_id in self.resources and not overlaps


def list_examined(report: Report, left: Sequence[NotAccepted]) -> Examined:
    """List what a plan has examined, and what was skipped."""
    compared = (result for result in report.results if result.verdict in _COMPARED and not result.ending.fault)
    ids = {result.key: result.arm_id for result in compared if result.arm_id}
    return Examined(
        frozenset(map(quote_field, ids.values())),
        frozenset(quote_field(ids[refusal.key], refusal.field) for refusal in left if refusal.key in ids),
    )


def publish_pull_requests(
    groups: Sequence[Accepted], examined: Examined, publication: Publication
) -> Iterator[Published]:
    """Open or update a pull request for each group of accepted drift, on the host of this job, and close those whose
    drift is gone, as far as this run has examined it.

    Each request is done once it is yielded. Raises ConfigError, before anything is written, if the repository or the
    job does not fit; PublishError if git or the host refuses.
    """
    host = open_host(publication.environment, HostUse.PULL_REQUEST)
    with open_repository(publication) as (tree, head):
        remote = _find_remote(tree, publication)
        wanted = [
            (_describe_request(group, host, publication), make_change(group, read_files(tree, head, group)))
            for group in groups
            if group.resources
        ]
        with open_branches(remote, head, publication) as branches:
            publisher = _make_publisher(host, head, branches)
            urls: dict[str, str] = {}
            for text, change in wanted:
                published = publisher.publish(text, change)
                urls.update(dict.fromkeys(change.field_names, published.url))
                yield published
            yield from publisher.close_others({text.branch for text, _ in wanted}, examined, urls)


def _find_remote(tree: WorkTree, publication: Publication) -> Remote:
    remote, refusal = find_remote(tree, publication.access)
    if remote is None:
        raise ConfigError(
            refusal or f"{tree.top} has no remote, so no branch can be pushed.", hint="Set the remote origin."
        )
    return remote


def _find_default(branches: Branches) -> str:
    """Find the branch that the remote shows first; "" if there is none."""
    head = list_advertised(branches.clone, "--symref", "HEAD").get("HEAD", "")
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else ""


def _make_publisher(host: PullRequestHost, head: Head, branches: Branches) -> _Publisher:
    """Make the publisher for the branch that is checked out. Raises ConfigError without one that fits."""
    name = branches.remote.name
    # A job checks out a commit and no branch, so its host names the one that the job runs for.
    base = head.branch or host.base or _find_default(branches)
    tips = branches.find(base, f"{_PREFIX}*")
    if base not in tips:
        raise ConfigError(
            f"{name} has no branch {base}, so a pull request cannot be merged to it.",
            hint="Check out a branch that the remote has, and run it again.",
        )
    branches = replace(branches, target=tips[base])
    # The job of a pull request has the commit that merging it makes, with changes that are not merged yet.
    if not branches.is_on_target():
        raise ConfigError(
            f"The commit {shorten_revision(branches.base)}, which is checked out, is not part of the branch {base} of "
            f"{name}: a pull request would have more changes than the drift.",
            hint=f"Check out the branch {base}, and run it again.",
        )
    return _Publisher(host, branches, base, tips)


@dataclass(frozen=True, slots=True)
class _Publisher:
    """Brings the pull requests of one run up to date."""

    host: PullRequestHost
    branches: Branches
    base: str  # the branch that they are for
    tips: Mapping[str, str]  # the commits of the branches of the remote

    def publish(self, text: _RequestText, change: DriftCommit) -> Published:
        """Open or update the pull request of one group."""
        branch, tip = text.branch, self.tips.get(text.branch)
        request = self.host.find_request(branch)
        own = self.branches.read_own(tip) if tip else None
        # A person has worked on the branch, and a push would throw that away.
        if tip and own is None:
            shown = request.url if request else f"the branch {branch}"
            sentence = f"The branch {branch} has commits by somebody else, so it was not changed: {shown}"
            return Published(
                action=PublishedAs.LEFT, sentence=sentence, branch=branch, url=request.url if request else ""
            )
        # A person refused exactly this change; another value of the same field may be proposed again.
        if request and request.state is RequestState.CLOSED and text.has_values_of(request):
            sentence = f"A pull request with the same values was closed, so no new one is opened: {request.url}"
            return Published(action=PublishedAs.LEFT, sentence=sentence, branch=branch, url=request.url)
        # A push dismisses approvals and starts all checks, so an equal change is not pushed.
        is_pushed = own is None or own.digest != change.digest
        if is_pushed:
            self.branches.push(branch, tip, change)
        if request is None or request.state is not RequestState.OPEN:
            request = self.host.open_request(branch, self.base, text.title, text.body)
            return self._say(PublishedAs.OPENED, "Opened", text, request)
        is_edited = not text.is_that_of(request)
        if is_edited:
            self.host.edit_request(request.number, text.body)
        if is_pushed or is_edited:
            return self._say(PublishedAs.UPDATED, "Updated", text, request)
        return self._say(PublishedAs.UNCHANGED, "Unchanged", text, request)

    def _say(self, action: PublishedAs, word: str, text: _RequestText, request: PullRequest) -> Published:
        return Published(
            action=action, sentence=f"{word}: {text.title}: {request.url}", branch=text.branch, url=request.url
        )

    def close_others(self, kept: Collection[str], examined: Examined, urls: Mapping[str, str]) -> Iterator[Published]:
        """Close the requests, and delete the branches, of drift that is gone: this run has examined all of their
        fields. `urls` has the requests of this run by field.
        """
        others = sorted(tip for tip in self.tips if tip.startswith(_PREFIX) and tip not in {*kept, self.base})
        # A run that compared nothing has not seen that any drift is gone.
        for branch in others if examined.resources else ():
            own = self.branches.read_own(self.tips[branch])
            # One field that the run skipped may still have its drift.
            if own and own.field_names and all(map(examined.knows, own.field_names)):
                yield self._close(
                    branch, next((urls[field_name] for field_name in own.field_names if urls.get(field_name)), "")
                )

    def _close(self, branch: str, successor: str) -> Published:
        request = self.host.find_request(branch)
        reason = "its drift is part of another request now" if successor else "its drift is gone"
        done = f"Deleted the branch {branch}: {reason}."
        if request and request.state is RequestState.OPEN:
            gone = f"The plan of {self.branches.base[:12]} shows no difference in these fields any more."
            # Its digests go first: the same drift may come back, and no person has refused it.
            body = request.body.partition("\n")[2] if request.body.startswith(_MARK) else request.body
            self.host.edit_request(request.number, f"{_CLOSED}\n{body}")
            self.host.create(request.number, f"This drift is part of {successor} now." if successor else gone)
            self.host.close_request(request.number)
            done = f"Closed, since {reason}: {request.url}"
        self.branches.delete(branch, self.tips[branch])
        return Published(action=PublishedAs.CLOSED, sentence=done, branch=branch, url=request.url if request else "")


# The texts of a pull request.


@dataclass(frozen=True, slots=True)
class _RequestText:
    """What a pull request reports."""

    branch: str  # the one that it brings
    title: str
    mark: str  # its first line, by which a later run finds it
    text: str  # the rest of its description

    @property
    def body(self) -> str:
        return f"{self.mark}\n{self.text}"

    def has_values_of(self, request: PullRequest) -> bool:
        """Return whether a request was of the same values."""
        return request.body.split()[:4] == self.mark.split()[:4]

    def is_that_of(self, request: PullRequest) -> bool:
        """Return whether a request has this text. Hosts change the ends of lines, and a person may have added to it."""
        return request.body.partition("\n")[0].strip() == self.mark


def _describe_request(accepted: Accepted, host: PullRequestHost, publication: Publication) -> _RequestText:
    """Write the texts of a pull request."""
    cells = [(resource, field) for resource in accepted.resources for field in (resource.fields or (None,))]
    field_names = sorted((resource.arm_id.key, field.pointer if field else "") for resource, field in cells)
    values = []
    for resource, field in cells:
        is_set = field is not None and field.new is not REMOVED
        value = json.dumps(field.new, sort_keys=True, default=str) if field and is_set else ""
        values.append((resource.arm_id.key, field.pointer if field else "", value))
    text = _format_text(accepted, host.longest_body - _RESERVE, publication)
    # The log is another one in each run, and no reason to edit a request.
    log = f"\n\n[Log of the run that wrote this]({host.log_url})" if host.log_url else ""
    return _RequestText(
        branch=f"{_PREFIX}{_digest(field_names)}",
        title=make_title(accepted.resources),
        mark=f"{_MARK} {_digest(sorted(values))} {_digest(text)} -->",
        text=f"{text}{log}\n",
    )


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:12]


def _format_text(accepted: Accepted, room: int, publication: Publication) -> str:
    """Format who changed what, and when, in at most `room` characters."""
    changes = {
        field.changed_by or _find_author(resource): None for resource in accepted.resources for field in resource.fields
    }
    changes |= {_find_author(resource): None for resource in accepted.resources if not resource.fields}
    known = sorted(
        (change for change in changes if change and not change.doubt),
        key=lambda change: (change.at, change.correlation_id),
        reverse=True,
    )
    names = publication.who is Who.NAMES
    lines = [f"- {publication.mask(format_change(change, names=names, quote=format_code))}" for change in known]
    if len(known) < len(changes):
        lines.append(f"- Who changed {'the rest' if known else 'this'} is not known.")
    head = ["\n".join([f"| {' | '.join(_COLUMNS)} |", "|---" * len(_COLUMNS) + "|"])]
    who = select_fitting(lines, room // 3, "change")
    room -= sum(map(len, (_INTRODUCTION, *head, *who)))
    rows = [row for resource in accepted.resources for row in _list_rows(resource, publication.mask)]
    fitting = select_fitting(rows, room, "field")
    left_out = [fitting.pop()] if fitting and not fitting[-1].startswith("|") else []
    table = "\n".join([*head, *fitting])
    return "\n\n".join([_INTRODUCTION, "\n".join(who), table, *left_out])


def _list_rows(resource: DriftedResource, mask: Callable[[str], str]) -> Iterator[str]:
    name = format_code(shorten(f"{resource.key.kind}/{resource.key.name}", _LONGEST))
    if resource.is_gone:
        yield f"| {name} | the whole resource | declared | deleted | {_format_location(resource.source)} |"
    for field in resource.fields:
        field_name = _format_location(field.source or resource.source)
        path = format_code(shorten(mask(format_field(field.path)), _LONGEST))
        yield f"| {name} | {path} | {_format_side(field.old, mask)} | {_format_side(field.new, mask)} | {field_name} |"


def _format_location(field_name: SourceLocation) -> str:
    return format_code(shorten(str(field_name), _LONGEST))


def _format_side(value: object, mask: Callable[[str], str]) -> str:
    shown = format_value(None if value is REMOVED else value)
    return format_code(shorten(mask(shown), _LONGEST))
