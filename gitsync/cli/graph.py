"""Draw owners and references as Mermaid, Graphviz or JSON. Offline.

Arrows point from a resource to its dependencies. Manifests with errors and missing dependencies are red. Exits 1 if
there are errors; the graph is drawn anyway.
"""

from __future__ import annotations

import argparse
import json
import sys

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("graph")
OUTPUTS = ("mermaid", "dot", "json")
EXAMPLES = (Example("A picture, with Graphviz", "gitsync graph --output dot | dot -Tsvg > graph.svg"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add none: all its flags are settings."""


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the graph and give the exit code."""
    from gitsync.cli.offline import read_offline
    from gitsync.report.owner_graph import build_graph_document, build_owner_graph, draw_dot, draw_mermaid
    from gitsync.settings.logging import neutralize

    offline = read_offline(config, options.redactions)
    graph = build_owner_graph(offline.prepared, offline.catalog, offline.everything)
    if config.output == "json":
        print(neutralize(json.dumps(build_graph_document(graph), indent=2)))
    else:
        print(neutralize({"mermaid": draw_mermaid, "dot": draw_dot}[config.output](graph)), end="")
    if offline.has_errors:
        print("gitsync: some manifests have problems; `gitsync validate` shows them.", file=sys.stderr)
        return ExitCode.FAILED
    return ExitCode.FINE
