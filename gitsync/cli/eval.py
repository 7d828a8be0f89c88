"""Evaluate an export expression for one resource in SOURCE, or the expressions of its fields.

Name the resource as Kind/name; an unambiguous name may be abbreviated. `self.status` has what the last run recorded:
the values in git, the id and the condition. With --live, it is Azure's response to a GET. Secrets are not read: each
has the value <secret>. With --jsonl, each line is a JSON object with apiVersion, kind, self, secret and expression, and
gets a line with ASO's result; secrets are shown there as they were given. Expressions are those of ASO, in CEL.
Without EXPRESSION, it shows each field that gitsync/set computes, with its value as far as it is known.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example
from gitsync.cli.compare import open_lines
from gitsync.cli.recorded import build_objects, load_state
from gitsync.errors import ConfigError, ExitCode, GitsyncError, SourceError
from gitsync.model.secret import MASKED
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.cli.offline import Offline
    from gitsync.desired.catalog.catalog import Catalog
    from gitsync.desired.cel.answers import Answer
    from gitsync.desired.cel.objects import Object
    from gitsync.model.facts import Kind
    from gitsync.model.gvk import Key
    from gitsync.model.record import Record
    from gitsync.model.resource import Prepared
    from gitsync.settings.redaction import Redactions

SETTINGS = list_settings("eval")
OUTPUTS = ("text", "json")
EXAMPLES = (Example("What would this export return?", "gitsync eval VirtualNetwork/hub 'self.status.id'"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("resource", metavar="KIND/NAME", nargs="?", help="The resource, such as VirtualNetwork/hub.")
    parser.add_argument("expression", metavar="EXPRESSION", nargs="?", help="The expression, in CEL.")
    parser.add_argument("--live", action="store_true", help="Read the status from Azure.")
    parser.add_argument("--jsonl", metavar="FILE", help="Evaluate many: one JSON object per line; - is stdin.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print what the expression comes to."""
    named = (options.resource, options.expression)
    if options.jsonl is not None:
        if any(named) or options.live:
            raise ConfigError("--jsonl takes no resource and no --live.", hint="Use one of them.")
        return _answer_many(options.jsonl)
    if not options.resource:
        raise ConfigError("eval needs a resource.", hint="Run gitsync eval KIND/NAME EXPRESSION, or use --jsonl.")
    return _answer_one(options, config) if options.expression else _show_computed(options, config)


def _answer_many(path: str) -> ExitCode:
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.cel.answers import evaluate_request, read_expression_request

    catalog = open_catalog()
    with open_lines(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                _print_json(evaluate_request(read_expression_request(line, number, catalog)))
    return ExitCode.FINE


def _answer_one(options: argparse.Namespace, config: Config) -> ExitCode:
    import asyncio

    from gitsync.desired.cel.answer_placeholders import make_placeholder
    from gitsync.desired.cel.answers import answer_program
    from gitsync.desired.cel.expressions import build_environment, compile_expression
    from gitsync.desired.cel.types.kinds import list_secret_names

    redactions: Redactions = options.redactions
    prepared, kind = _find_prepared(options.resource, config, redactions)
    program = compile_expression(options.expression, build_environment(kind))
    record = load_state(config).records.get(prepared.key)
    body = asyncio.run(_read_live(prepared, kind, record, config, redactions)) if options.live else _recall(record)
    if body is None and options.live:
        raise SourceError(f"{prepared.key} does not exist in Azure.", hint="Run gitsync sync.")
    if body is None:
        message = f"No status is recorded for {prepared.key}."
        raise SourceError(message, hint="Use --live, or run gitsync sync.")
    subject = _build_self(prepared, kind, record, body, is_live=options.live)
    # No kind lists the secrets of any type, so the expression itself has their names.
    secrets = make_placeholder(program.tree) if kind.is_any_type else dict.fromkeys(list_secret_names(kind), MASKED)
    answer = answer_program(program, subject, secrets)
    if answer.error:
        hint = "Fix the expression." if options.live else "Fix the expression, or use --live."
        raise GitsyncError(f"failed to eval CEL expression: {answer.error}", hint=hint)
    if config.output == "json":
        _print_json(answer)
    else:
        _print_value(answer)
    return ExitCode.FINE


def _show_computed(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print each field that an expression computes, with its value or why it is unknown."""
    from gitsync.cli.computed_fields import compute_fields, list_sources
    from gitsync.cli.offline import read_offline
    from gitsync.settings.logging import neutralize

    offline = read_offline(config, options.redactions)
    prepared = _find_named(options.resource, offline)
    if not prepared.relations.computed:
        message = f"{prepared.key} has no computed fields, so eval needs an expression."
        raise ConfigError(message, hint="Run gitsync eval KIND/NAME EXPRESSION.")
    bodies = _read_bodies(offline, list_sources(prepared), config, options)
    fields = compute_fields(prepared, offline.everything, bodies, offline.catalog)
    if config.output == "json":
        print(neutralize(json.dumps([field.to_json() for field in fields], indent=2, ensure_ascii=False)))
        return ExitCode.FINE
    for field in fields:
        print(neutralize(f"{field.field}: {field.describe()}"))
        print(neutralize(f"    {field.expression}"))
    # The hint is not part of the output, which a program may read.
    if not options.live and any(field.unknown for field in fields):
        print("gitsync: With --live, it reads from Azure what is unknown.", file=sys.stderr)
    return ExitCode.FINE


def _read_bodies(
    offline: Offline, keys: Sequence[Key], config: Config, options: argparse.Namespace
) -> dict[Key, Mapping[str, Any] | None]:
    """Read what Azure shows of resources, or showed in the last run. A resource of another source has nothing here."""
    import asyncio

    records = load_state(config).records
    bodies = {}
    for prepared in (prepared for prepared in offline.everything if prepared.key in keys):
        record, kind = records.get(prepared.key), offline.catalog.kind_of(prepared.resource)
        if options.live and kind is not None:
            bodies[prepared.key] = asyncio.run(_read_live(prepared, kind, record, config, options.redactions))
        else:
            bodies[prepared.key] = _recall(record)
    return bodies


def _find_prepared(name: str, config: Config, redactions: Redactions) -> tuple[Prepared, Kind]:
    """The resource of a name, with its kind. ConfigError if there is none, or several."""
    from gitsync.cli.offline import read_offline

    offline = read_offline(config, redactions)
    found = _find_named(name, offline)
    return found, _find_kind(found, offline.catalog)


def _find_named(name: str, offline: Offline) -> Prepared:
    from gitsync.desired.manifests.selection import find_key

    key = find_key(name, [resource.key for resource in offline.everything])
    found = [resource for resource in offline.everything if resource.key == key]
    # Environments declare the same key with other values, and the answer would be that of either.
    if len(found) > 1:
        raise ConfigError(f"Several manifests declare {key}.", hint="Set --path to read one environment.")
    return found[0]


def _find_kind(prepared: Prepared, catalog: Catalog) -> Kind:
    kind = catalog.kind_of(prepared.resource)
    if kind is None:
        raise SourceError(f"{prepared.key} has an unsupported kind.", hint="Run gitsync validate.")
    return kind


def _recall(record: Record | None) -> Mapping[str, Any] | None:
    """What the last run recorded of a resource, as far as it looks like Azure's answer."""
    if record is None or record.spec.baseline is None:
        return None
    # A baseline has only what git sets, and expressions read the id from the body.
    named = {"id": str(record.arm_id), "name": record.arm_id.name}
    return {**record.spec.baseline, **named}


async def _read_live(
    prepared: Prepared, kind: Kind, record: Record | None, config: Config, redactions: Redactions
) -> Mapping[str, Any] | None:
    """What Azure answers to a GET, with the credential of the settings; None if the resource is not there."""
    import asyncio

    from gitsync.agent.run.connections import open_connections
    from gitsync.providers.arm.session import Session

    arm_id = prepared.arm_id or (record.arm_id if record else "")
    if not arm_id:
        raise SourceError(
            f"The ARM id of {prepared.key} is not known.", hint="Run gitsync validate and fix what it shows."
        )
    async with open_connections(config, asyncio.Event(), redactions=redactions, writes=False) as connections:
        session = Session(deadline=connections.clock.monotonic() + config.resource_timeout)
        live = await connections.azure.arm.reader(session).get(arm_id, prepared.api_version or kind.api_version)
    return live.body if live else None


def _build_self(
    prepared: Prepared, kind: Kind, record: Record | None, body: Mapping[str, Any], *, is_live: bool
) -> Object:
    from gitsync.desired.cel.objects import make_recorded_status, make_self
    from gitsync.planning.record_counts import decide_generation
    from gitsync.planning.status.aso_status import build_aso_status

    status = build_aso_status(kind, body)
    if record is not None:
        # Azure has no conditions: gitsync makes them.
        status["conditions"] = build_objects([record])[0]["status"]["conditions"]
    return make_self(
        prepared.resource,
        kind,
        status if is_live else make_recorded_status(kind, status),
        azure_name=str(body.get("id", "")).rpartition("/")[2],
        generation=decide_generation(record, prepared.resource.spec).generation,
    )


def _print_value(answer: Answer) -> None:
    from gitsync.desired.cel.answers import to_json
    from gitsync.settings.logging import escape_controls, neutralize

    value = to_json(answer.value)
    print(neutralize(escape_controls(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))))


def _print_json(answer: Answer) -> None:
    from gitsync.settings.logging import neutralize

    print(neutralize(json.dumps(answer.to_json(), ensure_ascii=False)))
