"""The builds of one run: each set of inputs is built once, whatever the revision, and several at a time."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from gitsync.processes.grace_period import Grace
from gitsync.units.sandbox import TIMEOUT
from gitsync.units.unbuildable import UnbuildableError

MOST_SECONDS = 600.0
"""For all builds of a run together."""

_WORKERS = 4


class BuildJob(Protocol):
    """What one build needs. `path` is the file that messages name; the digest says all about the result."""

    @property
    def path(self) -> str: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...

    @property
    def digest(self) -> str: ...

    def run(self, timeout: float, grace: Grace) -> bytes:
        """The manifests as one YAML text. UnbuildableError if there are none, SourceError without a tool."""
        ...


def digest_inputs(settings: Any, files: Mapping[str, bytes]) -> str:
    """The digest of everything that a build depends on; `settings` are plain JSON values."""
    digest = hashlib.sha256(json.dumps(settings).encode())
    for path, content in sorted(files.items()):
        digest.update(json.dumps([path, len(content)]).encode())
        digest.update(content)
    return digest.hexdigest()


Built = bytes | UnbuildableError
"""The manifests of a unit as one YAML text, or why there are none."""


@dataclass(slots=True)
class Builds:
    """Runs builds. Mutable: it keeps the results of the run, and the time that is left for others.

    `timeout` is in seconds for each build, `seconds` for all of them. Builds end with `grace`.
    """

    timeout: float = TIMEOUT
    seconds: float = MOST_SECONDS
    grace: Grace = field(default_factory=Grace, repr=False)
    _results: dict[str, Built] = field(default_factory=dict, repr=False)

    def run(self, jobs: Sequence[BuildJob]) -> tuple[Built, ...]:
        """The results in the order of the jobs. SourceError if no tool is installed."""
        digests = [job.digest for job in jobs]
        new = {digest: job for digest, job in zip(digests, jobs, strict=True) if digest not in self._results}
        start = time.monotonic()
        workers = ThreadPoolExecutor(max_workers=min(_WORKERS, os.cpu_count() or 1))
        futures = [workers.submit(self._build, job, start + self.seconds) for job in new.values()]
        try:
            self._results.update(zip(new, (future.result() for future in futures), strict=True))
        except BaseException:
            self.grace.begin()
            raise
        finally:
            workers.shutdown(cancel_futures=True)
            self.seconds -= time.monotonic() - start
        return tuple(self._results[digest] for digest in digests)

    def _build(self, job: BuildJob, end: float) -> Built:
        remaining = end - time.monotonic()
        if remaining <= 0:
            return UnbuildableError(
                f"{job.path} was not built: the builds of this source take too long.",
                hint="Set --path to a part of the source, or exclude kustomizations with .gitsyncignore.",
                path=job.path,
            )
        try:
            return job.run(min(self.timeout, remaining), self.grace)
        except UnbuildableError as error:
            return error
