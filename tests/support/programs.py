"""Programs that some tests need. Tests are skipped without them, and counted at the end of a run."""

import json
import shutil
from pathlib import Path

import pytest

from gitsync.repository.units.kustomize import has_tool

LANGUAGE_SERVER_VERSION = "1.25.0"
"""Of yaml-language-server. `.ci/run` installs it from npm."""


def _has_language_server() -> bool:
    program = shutil.which("yaml-language-server")
    package = Path(program).resolve().parents[1] / "package.json" if program else None
    return bool(
        package and package.exists() and json.loads(package.read_text()).get("version") == LANGUAGE_SERVER_VERSION
    )


needs_build_tool = pytest.mark.skipif(not has_tool(), reason="neither kustomize nor kubectl is installed")
"""Either of them builds kustomizations."""

needs_helm = pytest.mark.skipif(shutil.which("helm") is None, reason="helm is not installed")
needs_kustomize = pytest.mark.skipif(shutil.which("kustomize") is None, reason="kustomize is not installed")
"""kustomize itself, not the one in kubectl."""

needs_opentofu = pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("tofu", "terraform-provider-azapi")),
    reason="tofu and terraform-provider-azapi are not installed: python -m bench.opentofu builds them",
)

needs_language_server = pytest.mark.skipif(
    not _has_language_server(), reason=f"yaml-language-server {LANGUAGE_SERVER_VERSION} is not installed"
)
