"""The objects in deploy, as kustomize and helm make them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
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


def build(overlay: str, folder: Path) -> Objects:
    """What kustomize makes of an overlay beside the base."""
    shutil.copytree(BASE, folder / "base")
    (folder / "kustomization.yaml").write_text(overlay)
    return index(_run("kustomize", "build", str(folder)))


def template(values: str, folder: Path) -> Objects:
    """What helm makes of the chart."""
    file = folder / "values.yaml"
    file.write_text(values)
    return index(_run(*_HELM, str(CHART), "--values", str(file)))


_HELM = ("helm", "template", "gitsync", "--namespace", "gitsync", "--kube-version", f"{KUBERNETES}.0")


def refuse(values: str, folder: Path) -> str:
    """What helm says against values."""
    file = folder / "values.yaml"
    file.write_text(values)
    ended = subprocess.run([*_HELM, str(CHART), "--values", str(file)], capture_output=True, text=True, check=False)
    assert ended.returncode != 0
    return ended.stderr


def _run(*command: str) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
