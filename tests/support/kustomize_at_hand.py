"""kustomize itself, not the one in kubectl. Tests are skipped without it, and counted at the end of a run."""

import shutil

import pytest

REASON = "kustomize is not installed"
needs_kustomize = pytest.mark.skipif(shutil.which("kustomize") is None, reason=REASON)
