"""The objects in deploy, as kustomize and helm make them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
BASE, CHART, MONITORING = ROOT / "deploy" / "kubernetes", ROOT / "deploy" / "chart", ROOT / "deploy" / "monitoring"
PAGE = (ROOT / "docs" / "kubernetes.md").read_text()
KUBERNETES = "1.35"
"""The version that helm makes objects for."""

Objects = dict[tuple[str, str, str], Any]


def read_block(name: str) -> str:
    """The file of this name that docs/kubernetes.md shows."""
    found = re.search(rf"^```yaml\n# {re.escape(name)}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found, f"the page shows no {name}"
    return found[1]


def index(text: str) -> Objects:
    """The objects of a stream by kind, namespace and name."""
    documents = [document for document in yaml.load_all(text, yaml.CSafeLoader) if document]
    return {(d["kind"], d["metadata"].get("namespace", ""), d["metadata"]["name"]): d for d in documents}


def build(overlay: str, folder: Path, changed: Mapping[str, str] = MappingProxyType({})) -> Objects:
    """What kustomize makes of an overlay beside the base, of which some files are changed."""
    shutil.copytree(BASE, folder / "base")
    for path, text in changed.items():
        (folder / "base" / path).write_text(text)
    (folder / "kustomization.yaml").write_text(overlay)
    return index(_run("kustomize", "build", str(folder)))


def template(values: str, version: str = KUBERNETES) -> Objects:
    """What helm makes of the chart, for a version of Kubernetes."""
    ended = _call_helm(values, version)
    assert ended.returncode == 0, ended.stderr
    return index(ended.stdout)


def refuse(values: str, version: str = KUBERNETES) -> str:
    """What helm reports against values."""
    ended = _call_helm(values, version)
    assert ended.returncode != 0
    return ended.stderr


@cache
def _call_helm(values: str, version: str) -> subprocess.CompletedProcess[str]:
    """Run helm, which takes 70 ms, once for the same values."""
    options = ("--namespace", "gitsync", "--kube-version", f"{version}.0", "--values", "-")
    command = ("helm", "template", "gitsync", str(CHART), *options)
    return subprocess.run(command, input=values, capture_output=True, text=True, check=False)


def list_faults(values: str) -> list[str]:
    """What the schema of the chart has against values: helm looks at them with the chart's own below them."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    merged = _merge(yaml.safe_load((CHART / "values.yaml").read_text()), yaml.safe_load(values))
    found = jsonschema.Draft7Validator(schema).iter_errors(merged)
    return [f"{error.json_path}: {error.message}" for error in found]


def _merge(below: Any, value: Any) -> Any:
    if not (isinstance(below, dict) and isinstance(value, dict)):
        return value
    return below | {key: _merge(below.get(key), own) for key, own in value.items()}


def _run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
