"""Write the manifests as a configuration of Terraform or OpenTofu, with the azapi provider. Offline.

DIR gets an import block and an azapi_resource block for each resource, and variables for secrets. A plan of it imports
everything and changes nothing, except what the report names: an imported state has no secrets. What Terraform cannot
have is listed with its reason. No existing file in DIR is changed. Exits 1 if there are errors in manifests; all other
resources are written anyway.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("export")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Everything, as Terraform reads it", "gitsync export terraform --out infra"),
    Example("The resources of one namespace", "gitsync export terraform --out infra --target-namespaces shop"),
)

FORMATS = ("terraform",)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("format", metavar="FORMAT", choices=FORMATS, help="terraform, which OpenTofu reads too.")
    parser.add_argument("--out", metavar="DIR", required=True, help="The folder for the configuration.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Write the configuration, print the report and return the exit code."""
    from gitsync.cli.offline import check_subscription, read_offline
    from gitsync.settings.files.target_folder import TargetFolder
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.exports.export_report import ExportReport, build_document, format_lines
    from gitsync.workflows.exports.terraform.configuration import ManifestSet, make_configuration

    folder = TargetFolder(Path(options.out))
    folder.check()
    offline = read_offline(config, options.redactions)
    # An import block with a made-up subscription would fail only in Terraform.
    check_subscription(config, (prepared.arm_id for prepared in offline.prepared if prepared.arm_id))
    sets = (ManifestSet(each.prepared, each.manifests.objects.config_maps) for each in offline.environments)
    configuration = make_configuration(sets, offline.prepared, offline.catalog)
    folder.create_all(configuration.files)
    report = ExportReport(folder=options.out, configuration=configuration, has_errors=offline.has_errors)
    if config.output == "json":
        text = json.dumps(build_document(report), indent=2)
    else:
        text = "\n".join(map(escape_controls, format_lines(report)))
    print(neutralize(options.redactions.mask(text)))
    if offline.has_errors:
        print("gitsync: some manifests have problems; `gitsync validate` shows them.", file=sys.stderr)
    return report.exit_code
