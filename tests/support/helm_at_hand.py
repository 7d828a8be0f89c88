"""helm, which some tests render charts with. They are skipped without it, and counted at the end of a run."""

import shutil

import pytest

REASON = "helm is not installed"
needs_helm = pytest.mark.skipif(shutil.which("helm") is None, reason=REASON)
