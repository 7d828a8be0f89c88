"""The objects in deploy, as kustomize and helm make them."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

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
    documents = [document for document in yaml.safe_load_all(text) if document]
    return {(d["kind"], d["metadata"].get("namespace", ""), d["metadata"]["name"]): d for d in documents}


def build(overlay: str, folder: Path, changed: Mapping[str, str] = MappingProxyType({})) -> Objects:
    """What kustomize makes of an overlay beside the base, of which some files are changed."""
    shutil.copytree(BASE, folder / "base")
    for path, text in changed.items():
        (folder / "base" / path).write_text(text)
    (folder / "kustomization.yaml").write_text(overlay)
    return index(_run("kustomize", "build", str(folder)))


def template(values: str, folder: Path, version: str = KUBERNETES) -> Objects:
    """What helm makes of the chart, for a version of Kubernetes."""
    return index(_run(*_call_helm(values, folder, version)))


def _call_helm(values: str, folder: Path, version: str) -> tuple[str, ...]:
    file = folder / "values.yaml"
    file.write_text(values)
    options = ("--namespace", "gitsync", "--kube-version", f"{version}.0", "--values", str(file))
    return ("helm", "template", "gitsync", str(CHART), *options)


def refuse(values: str, folder: Path, version: str = KUBERNETES) -> str:
    """What helm reports against values."""
    command = _call_helm(values, folder, version)
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    return ended.stderr


def _run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
