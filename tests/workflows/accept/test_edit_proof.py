"""The working tree with edits that are not written: what they make of the requests."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitsync.errors import ConfigError
from gitsync.model.problem import Problem
from gitsync.model.template import Template
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.accept.edit_proof import Tree, open_tree
from tests.support.git_repositories import commit_all, init_repository
from tests.support.programs import needs_build_tool
from tests.support.world import FakeClock, key

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope, tags: {env: dev}}
"""
VNET = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: hub}
spec:
  location: westeurope
  owner: {name: core}
  addressSpace: {addressPrefixes: [10.0.0.0/16]}
"""
GROUP_KEY, VNET_KEY = (
    key("ResourceGroup", "resources.azure.com", "core"),
    key("VirtualNetwork", "network.azure.com", "hub"),
)


def make_tree(folder: Path, **settings: str) -> Tree:
    config = Config(source=str(folder), **settings)  # type: ignore[arg-type]  # texts only
    return open_tree(config, FakeClock(), Redactions())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    init_repository(tmp_path)
    (tmp_path / "base").mkdir()
    (tmp_path / "group.yaml").write_text(GROUP)
    (tmp_path / "base" / "vnet.yaml").write_text(VNET)
    commit_all(tmp_path)
    return tmp_path


def find_body(tree: Tree, texts: dict[str, bytes | None], one: object) -> object:
    request = tree.requests(texts)[one]  # type: ignore[index]  # a key
    assert isinstance(request, Template), request
    return request.body


def test_an_edit_changes_the_request_of_its_resource_alone_and_no_file(repository: Path) -> None:
    tree = make_tree(repository)
    before = tree.requests({})
    after = tree.requests({"group.yaml": GROUP.replace("dev", "prod").encode()})
    assert after[VNET_KEY] == before[VNET_KEY]
    assert find_body(tree, {}, GROUP_KEY) == {"location": "westeurope", "tags": {"env": "dev"}, "name": "core"}
    assert after[GROUP_KEY].body["tags"] == {"env": "prod"}  # type: ignore[union-attr]  # a template
    assert (repository / "group.yaml").read_text() == GROUP


def test_a_removed_file_takes_its_resource_and_leaves_a_problem_where_that_was_needed(repository: Path) -> None:
    after = make_tree(repository).requests({"group.yaml": None})
    assert GROUP_KEY not in after
    assert isinstance(problem := after[VNET_KEY], Problem)
    assert problem.code == "OwnerNotFound"


def test_edits_of_a_tree_that_was_edited_add_up(repository: Path) -> None:
    tree = make_tree(repository).replace({"group.yaml": GROUP.replace("dev", "prod").encode()})
    assert tree.content("group.yaml") == GROUP.replace("dev", "prod").encode()
    vnet = VNET.replace("10.0.0.0/16", "10.1.0.0/16").encode()
    body = find_body(tree, {"base/vnet.yaml": vnet}, VNET_KEY)
    assert body["properties"]["addressSpace"] == {"addressPrefixes": ["10.1.0.0/16"]}  # type: ignore[index]
    assert find_body(tree, {"base/vnet.yaml": vnet}, GROUP_KEY)["tags"] == {"env": "prod"}  # type: ignore[index]


def test_a_tree_is_that_of_one_moment(repository: Path) -> None:
    tree = make_tree(repository)
    before = tree.requests({})
    (repository / "group.yaml").write_text(GROUP.replace("dev", "prod"))
    assert tree.requests({"base/vnet.yaml": VNET.encode()}) == before


def test_paths_count_from_a_folder_below_the_top_of_the_repository(repository: Path) -> None:
    tree = make_tree(repository / "base")
    assert (tree.folder, tree.prefix) == (repository / "base", "base")
    assert tree.content("vnet.yaml") == VNET.encode()


@needs_build_tool
def test_a_kustomization_is_built_of_the_edited_files(repository: Path) -> None:
    (repository / "base" / "kustomization.yaml").write_text("resources: [vnet.yaml]\n")
    tree = make_tree(repository)
    assert tree.prepared[VNET_KEY].resource.rendered_by == "base"
    body = find_body(tree, {"base/vnet.yaml": VNET.replace("10.0.0.0/16", "10.1.0.0/16").encode()}, VNET_KEY)
    assert body["properties"]["addressSpace"] == {"addressPrefixes": ["10.1.0.0/16"]}  # type: ignore[index]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ref": "main"}, "SOURCE is a revision"),
        ({"source": "https://example.com/estate.git"}, "SOURCE is a revision"),
    ],
)
def test_a_revision_cannot_be_edited(repository: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_tree(Config(**{"source": str(repository), **settings}), FakeClock(), Redactions())  # type: ignore[arg-type]


def test_a_folder_without_git_is_not_edited(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not in a git repository"):
        make_tree(tmp_path)
