"""The working tree as a plan reads it, with some of its files edited: what an edit makes of the requests to ARM.

Nothing is written for that: the readers and the builds of units get the edited files from memory, and a unit whose
files are the same is built once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from gitsync.agent.run.git_settings import make_git_access
from gitsync.agent.run.known_ids import read_known_from
from gitsync.agent.run.revision_plan import RevisionReader, read_revised
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.manifests.yaml_edits import EditableFile
from gitsync.desired.request.fill import fill
from gitsync.desired.request.placeholders import Placeholders
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.errors import ConfigError, MissingValueError
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.resource import Prepared
from gitsync.model.result import Result
from gitsync.model.template import Template
from gitsync.model.verdict import Comparison
from gitsync.planning.actions import find_remembered
from gitsync.planning.diff.handed_over_values import take_live_values
from gitsync.planning.diff.hints import make_kind_hints
from gitsync.planning.diff.three_way import compare
from gitsync.planning.revision_diff import Revised
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.contents import SourceContents, SourcePart, read_contents
from gitsync.repository.git.source.git_directory import find_git_directory, read_prefix
from gitsync.repository.git.source.listing import EditedListing
from gitsync.repository.git.source.location import Folder, parse_location
from gitsync.repository.git.source.revisions import RevisionManifests
from gitsync.repository.git.source.worktree import FolderListing
from gitsync.repository.units.build_sandbox import Builds
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions

Request = Template | Problem
"""What a resource requests from ARM, or why it requests nothing."""


@dataclass(frozen=True, kw_only=True)
class Tree:
    """The files of SOURCE at one moment, in a git working tree."""

    folder: Path  # paths are relative to it, as those of locations in manifests
    prefix: str  # the path of the folder inside the repository, "" for its top
    listing: EditedListing = field(repr=False)  # the files; a Secret may be among them
    wanted: SourcePart = field(repr=False)  # the part of the source that a run reads
    reader: RevisionReader = field(repr=False)

    def content(self, path: str) -> bytes:
        """Return the content of a file that the tree has. Raises SourceError if it cannot be read."""
        return self.listing.read(self.listing.find([path]))[path]

    @cached_property
    def _editable(self) -> dict[str, EditableFile]:
        """The files that were edited so far."""
        return {}

    def open_file(self, path: str) -> EditableFile:
        """Open a file for edits; it is parsed once. Raises SourceError if it cannot be read."""
        if path not in self._editable:
            self._editable[path] = EditableFile(self.content(path))
        return self._editable[path]

    def replace(self, texts: Mapping[str, bytes | None]) -> Tree:
        """Return the tree with some files replaced, or removed (None), in addition to what was replaced before."""
        return replace(self, listing=replace(self.listing, texts={**self.listing.texts, **texts}))

    @cached_property
    def revised(self) -> Revised:
        """Everything that the files declare, prepared. Raises SourceError if they cannot be read."""
        contents = read_contents(self.listing, self.wanted)
        read = SourceContents(
            files=contents.files, units=contents.units, problems=contents.problems, settings=contents.settings
        )
        revision = RevisionManifests(commit=None, contents=read)
        revised, _ = read_revised(self.reader, revision, "")
        return revised

    @cached_property
    def prepared(self) -> Mapping[Key, Prepared]:
        """The resources by their keys. Several manifests of one key, which is an error, are left out."""
        found: dict[Key, list[Prepared]] = {}
        for resource in self.revised.prepared:
            found.setdefault(resource.key, []).append(resource)
        # An edit of one of two manifests does not show what a run would do.
        return {key: entries[0] for key, entries in found.items() if len(entries) == 1}

    def fill(self, prepared: Prepared) -> Mapping[str, Any] | None:
        """Return the body that a resource requests, without what gitsync ignores of it; None if a value that it needs
        does not exist. Values that are known during a run only are secrets, which are never compared.
        """
        values = Placeholders(self.prepared, self.revised.config_maps, self.revised.secrets)
        if prepared.template is None:
            return None
        try:
            body = fill(prepared.template, prepared.key.namespace, values).body
        except MissingValueError:
            return None
        filled: Mapping[str, Any] = remove_paths(body, prepared.ignored)
        return filled

    def requests(self, texts: Mapping[str, bytes | None]) -> Mapping[Key, Request]:
        """Return what every resource requests if some files are replaced, or removed (None)."""
        tree = self.replace(texts) if texts else self
        return {key: find_request(resource) for key, resource in tree.prepared.items()}


def find_request(prepared: Prepared) -> Request:
    """Return the request of a resource, or the first problem for which it has none."""
    if prepared.is_valid and prepared.template is not None:
        return prepared.template
    problems = sorted(prepared.problems, key=lambda problem: not problem.is_error)  # an error goes before a warning
    return problems[0] if problems else Problem(code="NoRequest", message=f"{prepared.key} requests nothing.")


def describe_request(request: Request | None) -> str:
    """Write a request so that equal texts mean equal bytes. The location of a problem may move with the lines."""
    return f"{request.code} {request.field}" if isinstance(request, Problem) else repr(request)


def compare_with_live(tree: Tree, result: Result) -> Comparison | None:
    """Compare a resource of the tree with what a plan read of it in Azure, as the next plan will; None if that is not
    known, or the tree has no request for it. Secrets are not compared.
    """
    prepared = tree.prepared.get(result.key)
    kind = open_catalog().kind_of(prepared.resource) if prepared else None
    if (
        prepared is None
        or kind is None
        or result.comparison.live_body is None
        or not isinstance(find_request(prepared), Template)
    ):
        return None
    body = tree.fill(prepared)
    if body is None:
        return None
    remembered = find_remembered(result.record, prepared.api_version or "", prepared.ignored)
    if remembered is not None:
        # The tree has placeholders where a run has secrets, so their digests cannot agree.
        remembered = replace(remembered, applied=mask_digests(remembered.applied))
    live = remove_paths(result.comparison.live_body, prepared.ignored)
    body = take_live_values(body, live, kind.arm_type, prepared.relations.told).body
    return compare(body, live, remembered, make_kind_hints(kind))


def open_tree(
    config: Config,
    clock: Clock,
    redactions: Redactions,
    grace: Grace | None = None,
    *,
    is_committed: bool = False,
    builds: Builds | None = None,
) -> Tree:
    """Open the working tree of SOURCE. Files are read when they are needed, each once. `builds` are kept for all that
    is read of it.

    Raises ConfigError if SOURCE is not a folder in a git working tree, or not as it `is_committed`; SourceError if it
    cannot be read.
    """
    access = make_git_access(config, grace)
    folder = _find_folder(config, access)
    checkout = open_checkout(
        config.source,
        path=config.path,
        access=access,
        status_dir=Path(config.status_dir) if config.status_dir else None,
        config_file=config.config_file,
        offline=not is_committed,
        units=config.units,
        builds=builds,
        variables=config.variables,
    )
    with checkout:
        # The edits would rest on text that the branch does not have.
        if is_committed and checkout.dirty:
            raise ConfigError(
                f"{folder} has uncommitted changes, and the new branch starts at the commit.",
                hint="Commit them, or omit --branch and --pull-request to edit the files.",
            )
        return Tree(
            folder=folder,
            prefix=read_prefix(folder),
            listing=EditedListing(source=FolderListing(root=folder)),
            wanted=checkout.wanted,
            reader=RevisionReader(config, clock, redactions, read_known_from(config, None, None, redactions.add)),
        )


def _find_folder(config: Config, access: GitAccess) -> Path:
    """Find the folder of SOURCE in a working tree. ConfigError if there is none."""
    source = parse_location(config.source)
    if not isinstance(source, Folder) or config.ref is not None:
        raise ConfigError(
            "Drift is accepted into a working tree, and SOURCE is a revision.",
            hint="Clone the repository, check out the branch, and set SOURCE to the folder.",
        )
    if find_git_directory(source.path, access) is None:
        raise ConfigError(
            f"{source.path} is not in a git repository, so an edit could not be undone.",
            hint="Run git init there and commit the manifests.",
        )
    return source.path
