"""Show the requests that the manifests produce: method, URL and body of each. Offline.

Values that only a run reads are shown as placeholders: <secret NAME/KEY>, <configmap NAME/KEY>. Exits 1 if there are
errors; all other requests are shown anyway.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.cli.offline import Offline
    from gitsync.desired.request.placeholders import Shown
    from gitsync.model.problem import Problem
    from gitsync.model.resource import Prepared
    from gitsync.model.template import Request

SETTINGS = list_settings("render")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("The requests of one resource", "gitsync render --only VirtualNetwork/hub"),
    Example("As JSON, for other tools", "gitsync render --output json"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add none: all its flags are settings."""


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the requests and give the exit code."""
    from gitsync.cli.offline import read_offline
    from gitsync.desired.request.placeholders import show
    from gitsync.settings.logging import neutralize

    offline = read_offline(config, options.redactions)
    # By identity: environments may have resources of one key.
    selected_ids = {id(resource) for resource in offline.prepared}
    shown = [
        _excuse_spare(rendered)
        for environment in offline.environments
        for rendered in show(environment.prepared, environment.manifests.objects.config_maps)
        if id(rendered.prepared) in selected_ids
    ]
    offline = replace(offline, problems=tuple(map(_excuse, offline.problems)))
    if config.output == "json":
        resource_problems = {problem for rendered in shown for problem in rendered.prepared.problems}
        file_problems = [problem for problem in offline.problems if problem not in resource_problems]
        print(neutralize(json.dumps(_build_document(shown, file_problems), indent=2)))
    else:
        print(
            neutralize("".join(f"{line}\n" for rendered in shown for line in _format_lines(rendered, config))), end=""
        )
    _print_notes(config, offline)
    return ExitCode.FAILED if offline.has_errors else ExitCode.FINE


def _excuse_spare(shown: Shown) -> Shown:
    """The same, with what an API server refuses as warnings where no request bears it: metadata.name, and the group and
    kind of an owner that has no other.
    """
    problems = tuple(map(_excuse, shown.prepared.problems))
    return replace(shown, prepared=replace(shown.prepared, problems=problems))


def _excuse(problem: Problem) -> Problem:
    from gitsync.model.problem import Level

    is_spare = problem.code == "NoEffect" or (problem.code == "ObjectName" and problem.field == "metadata.name")
    return replace(problem, level=Level.WARNING) if is_spare else problem


def _build_document(shown: list[Shown], file_problems: list[Problem]) -> dict[str, Any]:
    from gitsync.report.json import build_problem

    return {
        "resources": [_build_resource(rendered) for rendered in shown],
        "problems": [build_problem(problem) for problem in file_problems],
    }


def _build_resource(shown: Shown) -> dict[str, Any]:
    from gitsync.desired.request.default_tags import list_default_tags
    from gitsync.report.json import build_problem, build_source

    prepared, key = shown.prepared, shown.prepared.key
    tags = {name: build_source(source) for name, source in list_default_tags(prepared.resource).items()}
    document = {
        "apiVersion": prepared.resource.gvk.api_version,
        "kind": key.kind,
        "namespace": key.namespace,
        "name": key.name,
        "source": build_source(prepared.resource.source),
        **({"renderedBy": prepared.resource.rendered_by} if prepared.resource.rendered_by else {}),
        "policy": prepared.policy.value,
        **({"policyReason": prepared.policy_reason} if prepared.policy_reason else {}),
        **({"defaultTags": tags} if tags else {}),
        "armId": shown.arm_id,
        "armApiVersion": prepared.api_version,
        "dependsOn": [str(other) for other in prepared.relations.depends_on],
        "problems": [build_problem(problem) for problem in prepared.problems],
    }
    return document | ({"body": shown.request.body} if shown.request else {})


def _format_lines(shown: Shown, config: Config) -> Iterator[str]:
    """One resource as a document of YAML: the request is a comment above its body."""
    from gitsync.desired.request.default_tags import list_default_tags
    from gitsync.report.wording import format_default_tags, format_renderers
    from gitsync.settings.logging import escape_controls

    prepared = shown.prepared
    yield "---"
    renderers = format_renderers([prepared.resource.rendered_by])
    facts = (str(prepared.resource.source), renderers, f"policy {prepared.policy.value}")
    yield escape_controls(f"# {prepared.key} ({', '.join(filter(None, facts))})")
    if prepared.policy_reason:
        yield escape_controls(f"# {prepared.policy_reason}")
    if tags := format_default_tags(list_default_tags(prepared.resource)):
        yield escape_controls(f"# {tags}")
    for problem in prepared.problems:
        yield escape_controls(f"# {problem.level.value}: {problem.message}")
    if shown.request is None:
        yield escape_controls(f"# no request: {shown.arm_id or 'no ARM id'}")
        return
    yield escape_controls(f"# {_format_request(shown.request, prepared, config)}")
    # A resource that gitsync only reads sends no body.
    if prepared.policy.allows_modify:
        yield from map(escape_controls, _format_yaml(shown.request.body))


def _format_request(request: Request, prepared: Prepared, config: Config) -> str:
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.catalog.type_words import PROVIDER_NAMES
    from gitsync.model.provider import Provider

    provider = open_catalog().provider(prepared.key.group, prepared.key.kind)
    if provider is not Provider.ARM:
        return f"In {PROVIDER_NAMES[provider]}, known to gitsync as {request.arm_id}"
    method = "PUT" if prepared.policy.allows_modify else "GET"
    return f"{method} {config.endpoint.rstrip('/')}{request.arm_id}?api-version={request.api_version}"


def _format_yaml(body: Mapping[str, Any]) -> list[str]:
    import yaml

    # PyYAML may have been built without libyaml.
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return yaml.dump(body, Dumper=dumper, sort_keys=False, allow_unicode=True, width=1000).rstrip("\n").split("\n")


def _print_notes(config: Config, offline: Offline) -> None:
    """Print notes about the whole output to stderr."""
    from gitsync.cli.offline import ANY_SUBSCRIPTION

    notes = {
        "nothing to render; check SOURCE and --path.": not offline.prepared,
        f"no subscription is set; ids show {ANY_SUBSCRIPTION}.": not config.subscription,
        "some manifests have problems; `gitsync validate` shows them.": offline.has_errors,
    }
    for note in (text for text, holds in notes.items() if holds):
        print(f"gitsync: {note}", file=sys.stderr)
