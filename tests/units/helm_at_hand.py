"""Tests that render charts need helm."""

from __future__ import annotations

import shutil

import pytest

REASON = "helm is not installed"
HAS_HELM = shutil.which("helm") is not None
needs_helm = pytest.mark.skipif(not HAS_HELM, reason=REASON)
