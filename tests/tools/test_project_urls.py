from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from project_urls import find_home, list_urls

ROOT = Path(__file__).parent.parent.parent
HOME = "https://github.com/acme/gitsync"


@pytest.mark.parametrize(
    ("variables", "home", "why"),
    [
        ({"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/gitsync"}, HOME, "a pipeline names it"),
        ({"GITHUB_SERVER_URL": "https://github.com/", "GITHUB_REPOSITORY": "acme/gitsync"}, HOME, "with a slash too"),
        ({"GITHUB_SERVER_URL": "https://github.com"}, None, "a server alone is no address"),
        ({}, None, "a build by hand has none"),
    ],
)
def test_a_package_has_the_addresses_of_the_repository_that_builds_it(variables, home, why):
    assert list_urls(find_home(variables)).get("Homepage") == home, why


def test_hatchling_gives_them_to_the_package():
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "metadata", "urls"],
        cwd=ROOT,
        env={**os.environ, "GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "acme/gitsync"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(built.stdout) == list_urls(HOME)
