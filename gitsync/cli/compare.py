"""Compare two ARM documents: the desired state and the live state. Offline.

DESIRED and LIVE are JSON or YAML files: the body of a PUT, and the response to a GET. With --baseline, the response
right after the last write, the live state is compared with that response. The exit code is 0 if nothing differs, 4 if
something differs, and 2 if the input cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode, SourceError
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.model.verdict import Comparison
    from gitsync.planning.diff.document_comparison import ArmBody

SETTINGS = list_settings("compare")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Does Azure have what was sent?", "gitsync compare desired.json live.json --type Microsoft.Cache/redis"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("desired", metavar="DESIRED", nargs="?", help="File with the desired state.")
    parser.add_argument("live", metavar="LIVE", nargs="?", help="File with the live state.")
    parser.add_argument("--baseline", metavar="FILE", help="File with the response right after the last write.")
    parser.add_argument("--applied", metavar="FILE", help="File with the body of the last write. [default DESIRED]")
    parser.add_argument(
        "--type", metavar="TYPE", default="", help="The ARM type, such as Microsoft.Cache/redis; @VERSION may follow."
    )
    parser.add_argument("--api-version", metavar="VERSION", default="", help="ARM's api-version. [default the newest]")
    parser.add_argument("--id", metavar="ID", default="", help="The resource's ARM id. [default LIVE's]")
    parser.add_argument("--jsonl", metavar="FILE", help="Compare many pairs: one JSON object per line; - is stdin.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    files = (options.desired, options.live)
    if options.jsonl is not None:
        if any(files):
            raise ConfigError("--jsonl cannot be combined with DESIRED and LIVE.", hint="Use one of them.")
        return _compare_many(options.jsonl)
    if not all(files):
        raise ConfigError("compare needs two documents.", hint="Run gitsync compare DESIRED LIVE, or use --jsonl FILE.")
    return _compare_pair(options, config)


def _compare_pair(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.planning.diff.document_comparison import DocumentComparison, answer, build_document
    from gitsync.settings.logging import neutralize

    pair = DocumentComparison(
        desired=_read_document(options.desired),
        live=_read_document(options.live),
        baseline=_read_document(options.baseline) if options.baseline else None,
        applied=_read_document(options.applied) if options.applied else None,
        arm_type=options.type,
        api_version=options.api_version,
        own_id=options.id,
    )
    comparison = answer(pair, open_catalog())
    is_json = config.output == "json"
    print(
        neutralize(
            json.dumps(build_document(comparison), indent=2) if is_json else "\n".join(_format_lines(comparison))
        )
    )
    return ExitCode.DRIFT if comparison.differences else ExitCode.FINE


def _compare_many(path: str) -> ExitCode:
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.planning.diff.document_comparison import answer, build_document, read_pair
    from gitsync.settings.logging import neutralize

    catalog, exit_code = open_catalog(), ExitCode.FINE
    with open_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            comparison = answer(read_pair(line, number), catalog)
            print(neutralize(json.dumps(build_document(comparison))))
            exit_code = ExitCode.DRIFT if comparison.differences else exit_code
    return exit_code


@contextmanager
def open_lines(path: str) -> Iterator[Iterable[bytes]]:
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as file:
            yield file
    except OSError as error:
        raise _make_unreadable(path, error) from error


def _make_unreadable(path: str, error: OSError) -> SourceError:
    return SourceError(f"{path} cannot be read: {error.strerror}.", hint="Give the path of a file.")


def _read_document(path: str) -> ArmBody:
    """The one document of a file."""
    from gitsync.desired.manifests.yaml_documents import read_documents

    try:
        contents = read_documents(path, Path(path).read_bytes())
    except OSError as error:
        raise _make_unreadable(path, error) from error
    found = [*contents.problems, *(problem for document in contents.documents for problem in document.problems)]
    if problems := [problem for problem in found if problem.is_error]:
        raise SourceError(f"{path}:{problems[0].line}: {problems[0].message}", hint=problems[0].hint)
    if len(contents.documents) != 1:
        raise SourceError(f"{path} contains {len(contents.documents)} documents.", hint="Give one ARM body per file.")
    body = contents.documents[0].value
    if not isinstance(body, Mapping):
        raise SourceError(f"{path} is not an object.", hint="Give the body of an ARM resource.")
    return body


def _format_lines(comparison: Comparison) -> Iterator[str]:
    """A difference in diff form: the live value, then the desired value."""
    from gitsync.report.escape import format_sides
    from gitsync.report.wording import format_plural
    from gitsync.settings.logging import escape_controls

    for difference in comparison.differences:
        yield f"{escape_controls(difference.path)}: {difference.rule}"
        live, desired = format_sides(difference.live, difference.desired)
        yield f"  - {live}"
        yield f"  + {desired}"
    for path in comparison.unverified:
        yield f"{escape_controls(path)}: cannot be verified"
    yield f"{format_plural(len(comparison.differences), 'difference')}, {len(comparison.unverified)} unverified."
