"""The files of a new repository: settings of editors, what git and gitsync ignore, and a first gitsync.yaml.

These are their paths and their texts. `gitsync init` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final, NamedTuple

from gitsync.desired.editor.schema_files import ENTRY
from gitsync.desired.editor.settings_schemas import SOURCE_SETTINGS

SCHEMAS: Final = ".gitsync-schemas"
"""The folder of the schemas. Its name begins with a dot, so no source reads it."""

STATE: Final = ".gitsync"

_SETTINGS_FILE: Final = "gitsync.yaml"
_OTHER_TOOLS: Final = (
    "kustomization.yaml",
    "kustomization.yml",
    "Chart.yaml",
    "values*.yaml",
    "docker-compose*.y*ml",
    "azure-pipelines*.y*ml",
)
"""Files of other tools, which have schemas of their own."""

_MANIFESTS: Final = ("*.yaml", "*.yml", *(f"!{name}" for name in (_SETTINGS_FILE, *_OTHER_TOOLS)))


class WorkspaceFile(NamedTuple):
    """A file of the folder."""

    path: str  # in the folder
    content: str
    essence: str = ""  # what an existing file must contain to do the same; "" for a file that may be anything


def build_workspace() -> tuple[WorkspaceFile, ...]:
    """Build all files except the schemas."""
    return (
        WorkspaceFile(_SETTINGS_FILE, _SETTINGS),
        WorkspaceFile(".gitignore", f"{STATE}/\n{SCHEMAS}/\n", SCHEMAS),
        WorkspaceFile(".gitsyncignore", _IGNORED),
        WorkspaceFile(".vscode/settings.json", _format_json(_VS_CODE), f"{SCHEMAS}/{ENTRY}"),
        WorkspaceFile(".vscode/extensions.json", _format_json(_EXTENSIONS), "redhat.vscode-yaml"),
        WorkspaceFile(".idea/jsonSchemas.xml", _build_jetbrains(), f"{SCHEMAS}/{ENTRY}"),
    )


_SETTINGS: Final = f"""\
# yaml-language-server: $schema={SCHEMAS}/{SOURCE_SETTINGS}
# The settings of this repository. The operator sets everything else, with flags or variables.

# The namespace of manifests without one.
namespace: default

# A misspelt field is an error. With `warn` it is dropped, as by an API server.
unknown-fields: error

# Folders that are built on their own, and their options:
# units:
#   - path: clusters/prod
#     kind: kustomization

# Tags of all resources that do not set them:
# tags:
#   team: platform

# Fields and tags that gitsync ignores in many resources:
# ignore:
#   - tags: [hidden-*]
"""

_IGNORED: Final = """\
# Files that gitsync does not read as manifests, in the format of .gitignore. For example:
# /docs/
# *.template.yaml
"""

_VS_CODE: Final[Mapping[str, object]] = {
    "yaml.schemas": {
        f"{SCHEMAS}/{ENTRY}": list(_MANIFESTS),
        f"{SCHEMAS}/{SOURCE_SETTINGS}": [_SETTINGS_FILE],
    }
}

_EXTENSIONS: Final[Mapping[str, object]] = {"recommendations": ["redhat.vscode-yaml"]}


def _format_json(value: object) -> str:
    return json.dumps(value, indent=2) + "\n"


def _build_jetbrains() -> str:
    """Build the schema mappings of IntelliJ IDEA, PyCharm and their like. Their patterns cannot exclude a file; the
    mapping of a file goes before that of a pattern.
    """
    manifests = _build_mapping("gitsync manifests", ENTRY, ("*.yaml", "*.yml"), is_pattern=True)
    settings = _build_mapping("gitsync settings", SOURCE_SETTINGS, (_SETTINGS_FILE,), is_pattern=False)
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<project version="4">
  <component name="JsonSchemaMappingsProjectConfiguration">
    <state>
      <map>
{manifests}{settings}      </map>
    </state>
  </component>
</project>
"""


def _build_mapping(name: str, schema: str, paths: tuple[str, ...], *, is_pattern: bool) -> str:
    kind = '                    <option name="pattern" value="true" />\n' if is_pattern else ""
    sort = '                    <option name="mappingKind" value="Pattern" />\n' if is_pattern else ""
    items = "".join(
        f'                  <Item>\n{kind}                    <option name="path" value="{path}" />\n{sort}'
        "                  </Item>\n"
        for path in paths
    )
    return f"""\
        <entry key="{name}">
          <value>
            <SchemaInfo>
              <option name="name" value="{name}" />
              <option name="relativePathToSchema" value="{SCHEMAS}/{schema}" />
              <option name="schemaVersion" value="JSON Schema version 7" />
              <option name="patterns">
                <list>
{items}                </list>
              </option>
            </SchemaInfo>
          </value>
        </entry>
"""
