"""What a repository is called: the same on every machine."""

from __future__ import annotations

import pytest

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.repository.git.source.checkout import Checkout, find_repository, find_revision
from tests.support.parts import build


@pytest.mark.parametrize(
    "url, name",
    [
        ("https://github.com/acme/estate", "github.com/acme/estate"),
        ("https://github.com/acme/estate.git", "github.com/acme/estate"),
        ("https://GitHub.com/acme/estate/", "github.com/acme/estate"),
        ("https://user:word@github.com/acme/estate", "github.com/acme/estate"),
        ("https://github.com:443/acme/estate", "github.com/acme/estate"),
        ("ssh://git@github.com/acme/estate.git", "github.com/acme/estate"),
        ("git@github.com:acme/estate.git", "github.com/acme/estate"),
        ("github.com:acme/estate", "github.com/acme/estate"),
        ("https://github.com/Acme/Estate", "github.com/Acme/Estate"),
        ("https://acme@dev.azure.com/acme/estate/_git/infra", "dev.azure.com/acme/estate/_git/infra"),
        ("git@ssh.dev.azure.com:v3/acme/estate/infra", "dev.azure.com/acme/estate/_git/infra"),
        ("acme@vs-ssh.visualstudio.com:v3/acme/estate/infra", "dev.azure.com/acme/estate/_git/infra"),
        ("https://acme.visualstudio.com/DefaultCollection/estate/_git/infra", "dev.azure.com/acme/estate/_git/infra"),
        ("https://dev.azure.com/acme/_git/estate", "dev.azure.com/acme/estate/_git/estate"),
        ("file:///srv/git/estate.git", "/srv/git/estate"),
        ("/srv/git/estate.git", "/srv/git/estate"),
        ("/srv/a:b/estate", "/srv/a:b/estate"),
    ],
)
def test_a_repository_has_one_name_however_it_is_reached(url, name):
    assert normalize_repository(url) == name


def test_a_source_without_a_remote_has_no_name_and_its_revision_is_enough():
    assert find_repository(build(Checkout, name="/somewhere", files={})) == ""
    assert find_revision(build(Checkout, name="/somewhere", files={}, revision="a" * 40)) == "a" * 40


def test_a_folder_without_a_commit_goes_by_its_files():
    def named(name="/here", **files):
        return find_revision(build(Checkout, name=name, files={path: text.encode() for path, text in files.items()}))

    assert named(a="1", b="2") == named("/there", b="2", a="1")
    assert len({named(a="1"), named(a="2"), named(b="1"), named(a="1", b=""), named()}) == 5
    assert named().startswith("files:")
