from __future__ import annotations

import pytest

from gitsync.errors import ArmError, ConfigError
from gitsync.extensions.api import Extension, block, failure, proceed, success
from gitsync.extensions.builtin.registrations import BUILT_IN
from gitsync.extensions.registry import Registry
from gitsync.extensions.third_party import load_installed
from gitsync.planning.status.error_classes import Classification
from tests.extensions.asking import REGISTRY, requested, subject
from tests.support.builders import live

AKS, KUSTO = "containerservice.azure.com", "kusto.azure.com"


def test_which_kinds_want_their_owner_read():
    assert REGISTRY.checks_owner(KUSTO, "Database")
    assert not REGISTRY.checks_owner(KUSTO, "Cluster")


async def looks_further(about, azure, next):
    return await next(about, azure)


NEEDS = [
    (AKS, "ManagedCluster", (), False, "a list shows the state that its check asks for"),
    (AKS, "ManagedCluster", (looks_further,), True, "a check of another package may ask for anything"),
    (KUSTO, "Database", (), False, "only its owner is checked"),
    ("insights.azure.com", "Webtest", (), False, "it has no check"),
    ("network.azure.com", "PrivateEndpoint", (), True, "a check after the write asks for more than a state"),
]


@pytest.mark.parametrize(("group", "kind", "others", "needs", "why"), NEEDS, ids=[row[-1] for row in NEEDS])
def test_which_kinds_need_a_read_for_their_checks(group, kind, others, needs, why):
    registry = Registry([*(Extension(group=group, kind=kind, pre_check=check) for check in others), *BUILT_IN])
    assert registry.needs_read(group, kind, ()) == needs, why


CLUSTER, SERVER = (AKS, "ManagedCluster"), ("dbforpostgresql.azure.com", "FlexibleServer")
SHOWN = [
    (CLUSTER, {"provisioningState": "Succeeded"}, True, "the cluster may be written"),
    (CLUSTER, {"provisioningState": "Updating"}, False, "the cluster is busy"),
    (CLUSTER, {"provisioningState": ""}, False, "an empty state is a state"),
    (CLUSTER, {}, False, "a list may leave the state out"),
    (SERVER, {"state": "Ready"}, True, "the server may be written"),
    (SERVER, {"state": "Stopped"}, False, "the server has stopped"),
    (SERVER, {"provisioningState": "Succeeded"}, False, "its check asks for another state"),
    (("insights.azure.com", "Webtest"), {}, True, "without a check there is nothing to show"),
]


@pytest.mark.parametrize(("kind", "properties", "is_allowed", "why"), SHOWN, ids=[row[-1] for row in SHOWN])
def test_what_a_list_must_show_for_a_check_of_the_state(kind, properties, is_allowed, why):
    assert REGISTRY.allows_listed(*kind, live(properties=properties)) == is_allowed, why


async def test_others_look_first_and_pass_the_question_on():
    seen = []

    def noting(name, answer):
        async def check(about, azure, next):
            seen.append(name)
            return answer or await next(about, azure)

        return check

    kind = {"group": AKS, "kind": "ManagedCluster"}
    registry = Registry(
        [
            Extension(**kind, pre_check=noting("first", None)),
            Extension(**kind, pre_check=noting("second", block("No."))),
        ]
    )
    assert await requested(registry.pre_check, subject(AKS, "ManagedCluster")) == "No."
    assert seen == ["first", "second"]


async def test_a_post_check_answers_success_or_failure():
    async def waits(about, azure, next):
        return failure("Wants approval.") if about.live is None else success()

    registry = Registry([Extension(group="g", kind="K", post_check=waits)])
    assert await requested(registry.post_check, subject("g", "K")) == "Wants approval."
    assert await requested(registry.post_check, subject("g", "K", own=live())) == ""
    assert proceed().agrees


def test_a_classifier_may_alter_what_the_rest_of_the_chain_returns():
    def fatal(error, next):
        return Classification.FATAL if error.code == "Mine" else next(error)

    registry = Registry([Extension(group="g", kind="K", classify=fatal)])
    assert registry.classify(ArmError("m", code="Mine", status=409), ("g", "K")) is Classification.FATAL
    assert registry.classify(ArmError("m", code="Other", status=409), ("g", "K")) is Classification.RETRYABLE
    assert registry.classify(ArmError("m", code="Mine", status=409), ("g", "Other")) is Classification.RETRYABLE


def package(folder, module: str):
    """An installed package that names `extension:rows` as its entry point."""
    (folder / "extension.py").write_text(module)
    info = folder / "others-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gitsync.extensions]\nothers = extension:rows\n")


def test_a_package_behind_a_newer_one_on_the_path_brings_nothing(tmp_path, monkeypatch):
    for name in ("older", "newer"):
        (tmp_path / name).mkdir()
        package(tmp_path / name, "rows = nothing_such\n")
        monkeypatch.syspath_prepend(tmp_path / name)
    (tmp_path / "newer" / "others-1.0.dist-info" / "entry_points.txt").write_text("[console_scripts]\n")
    assert load_installed() == ()


def test_another_package_brings_extensions(tmp_path, monkeypatch):
    package(tmp_path, "from gitsync.extensions.api import Extension\nrows = (Extension(group='g', kind='K'),)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load_installed() == (Extension(group="g", kind="K"),)
    assert Registry.load().checks_owner(KUSTO, "Database")


def test_a_package_that_cannot_be_loaded_is_named(tmp_path, monkeypatch):
    package(tmp_path, "rows = nothing_such\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "extension", raising=False)
    with pytest.raises(ConfigError, match="'others' \\(extension:rows\\)"):
        load_installed()
