"""The allow-list of identities: where it may be, what it may contain, and what a repository can do about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitsync.errors import ConfigError
from gitsync.model.allowed_identities import AllowedIdentities, IdentityMode
from gitsync.settings.config.identity_entries import read_allowed_identities
from gitsync.settings.config.load import make_config
from tests.settings.config.test_config import settings_of
from tests.support.git_repositories import init_repository

CLIENT = "0123ABCD-89ab-cdef-0123-456789abcdef"
MAPPING = f"allow: [{{namespaces: team-*, clients: {CLIENT}}}]\n"


def summarize(allowed: AllowedIdentities | None) -> tuple[object, ...]:
    assert allowed is not None
    entries = [(entry.namespaces, entry.clients) for entry in allowed.entries]
    return (allowed.mode, allowed.of_global, entries)


EXPECTED = (IdentityMode.REFUSE, ("*",), [(("team-*",), (CLIENT.casefold(),))])


@pytest.mark.parametrize("form", ["flag with a file", "flag", "variable", "mapping in the file", "path in the file"])
def test_the_operator_gives_it_in_each_way(tmp_path: Path, form: str):
    file = tmp_path / "list.yaml"
    file.write_text(MAPPING)
    arguments, variables, text = {
        "flag with a file": ([f"--allow-identities={file}"], {}, None),
        "flag": ([f"--allow-identities={MAPPING}"], {}, None),
        "variable": ([], {"GITSYNC_ALLOW_IDENTITIES": MAPPING}, None),
        "mapping in the file": ([], {}, f"allow-identities:\n  {MAPPING}"),
        "path in the file": ([], {}, f"allow-identities: {file}\n"),
    }[form]
    allowed = settings_of(arguments, variables, text, tmp_path).allow_identities
    assert summarize(allowed) == EXPECTED
    assert allowed.is_file is (form not in {"flag", "variable"})


def test_a_program_gives_it_as_a_mapping_or_as_a_text():
    mapping = {"allow": [{"namespaces": "team-*", "clients": CLIENT}]}
    assert summarize(make_config({"allow_identities": mapping}).allow_identities) == EXPECTED
    assert summarize(make_config({"allow_identities": MAPPING}).allow_identities) == EXPECTED
    with pytest.raises(ConfigError, match="expected a mapping"):
        make_config({"allow_identities": 3})


def test_all_keys():
    text = (
        f"mode: report\nglobal: [platform]\nallow:\n- {{tenants: [{CLIENT}], subscriptions: {CLIENT}}}\n"
        f"- {{clients: {CLIENT}, clouds: [https://Management.chinacloudapi.cn/, https://login.chinacloudapi.cn]}}\n"
    )
    allowed = read_allowed_identities(text, "the flag")
    assert (allowed.mode, allowed.of_global, allowed.refuses) == (IdentityMode.REPORT, ("platform",), False)
    first, second = allowed.entries
    assert (first.namespaces, first.tenants, first.subscriptions) == (("*",), (CLIENT.lower(),), (CLIENT.lower(),))
    assert second.clouds == ("https://management.chinacloudapi.cn", "https://login.chinacloudapi.cn")
    assert [str(entry.source) for entry in allowed.entries] == ["the flag:4", "the flag:5"]
    assert read_allowed_identities("{allow: [], global: []}", "x").of_global == ()


FAULTS = {
    "no list": ("mode: refuse\n", "LIST:1: expected the key allow"),
    "an empty file": ("", "LIST: expected a mapping with allow"),
    "a list": (f"- clients: {CLIENT}\n", "LIST:1: expected a mapping with mode, global, allow"),
    "a misspelt key": ("allow: []\nmod: report\n", "LIST:2: mod: there is no such key. Did you mean mode?"),
    "a misspelt key of an entry": (
        f"allow:\n- client: {CLIENT}\n",
        "LIST:2: allow[0].client: there is no such key. Did you mean clients?",
    ),
    "a key twice": ("allow: []\nallow: []\n", "LIST:2: allow: is given twice"),
    "another mode": ("mode: warn\nallow: []\n", "LIST:1: mode: expected refuse or report, not 'warn'"),
    "an entry that is empty": ("allow:\n- {}\n", "LIST:2: allow[0]: expected at least one of namespaces, clients"),
    "an entry that is nothing": ("allow:\n-\n", "LIST:2: allow[0]: expected a mapping with namespaces"),
    "an entry for clouds alone": (
        "allow:\n- clouds: https://x.example\n",
        "LIST:2: allow[0]: expected at least one of",
    ),
    "an id that is none": ("allow:\n- clients: [my-client]\n", "LIST:2: allow[0].clients[0]: expected a UUID"),
    "a pattern as an id": ("allow:\n- tenants: '*'\n", "LIST:2: allow[0].tenants: expected a UUID"),
    "no ids": ("allow:\n- clients: []\n", "LIST:2: allow[0].clients: expected at least one value"),
    "a key without a value": ("allow:\n- namespaces:\n", "LIST:2: allow[0].namespaces: expected at least one value"),
    "a namespace that is none": ("allow:\n- namespaces: Team_A\n", "expected the name of a namespace"),
    "global without a value": ("global:\nallow: []\n", "LIST:1: global: expected the name of a namespace"),
    "a cloud over http": (
        f"allow:\n- clients: {CLIENT}\n  clouds: http://x.example\n",
        "LIST:3: allow[0].clouds: expected an address",
    ),
    "no entries": ("allow:\n", "LIST:1: allow: expected a list"),
    "two faults": ("allow:\n- {}\n- clients: x\n", "LIST:3: allow[1].clients: expected a UUID"),
    "no YAML": ("allow: [\n", "LIST:2: this is not YAML"),
}


@pytest.mark.parametrize(("text", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_has_its_line(tmp_path: Path, text: str, message: str):
    file = tmp_path / "list.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        settings_of([f"--allow-identities={file}"])
    assert message.replace("LIST", str(file)) in caught.value.message


@pytest.mark.parametrize(
    "text", ["allow-identities:\n", "allow-identities: [a]\n", "allow-identities: {allow: [{}]}\n"]
)
def test_a_fault_in_the_operators_file_has_its_line(tmp_path: Path, text: str):
    with pytest.raises(ConfigError) as caught:
        settings_of(file=text, folder=tmp_path)
    assert f"{tmp_path / 'gitsync.yaml'}:1: allow-identities" in caught.value.message


def test_a_file_that_is_missing_does_not_allow_everything(tmp_path: Path):
    with pytest.raises(ConfigError, match="No such file"):
        settings_of([f"--allow-identities={tmp_path / 'list.yaml'}"])
    assert settings_of([], {"GITSYNC_ALLOW_IDENTITIES": " "}).allow_identities is None, "as every empty variable"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    (folder / "apps").mkdir(parents=True)
    init_repository(folder)
    (folder / "list.yaml").write_text(MAPPING)
    return folder


def test_a_repository_cannot_give_it(repository: Path):
    (repository / "gitsync.yaml").write_text(f"namespace: web\nallow-identities:\n  {MAPPING}")
    with pytest.raises(ConfigError) as caught:
        settings_of(folder=repository)
    assert f"{repository / 'gitsync.yaml'}:2: allow-identities is an operator setting" in caught.value.message


@pytest.mark.parametrize("source", ["{}", "{}/apps", "file://{}", "file://localhost{}/", "FILE://{}/.git"])
def test_a_file_of_the_manifests_is_refused(repository: Path, source: str):
    folder = source.format(repository)
    for file in (repository / "list.yaml", _link(repository.parent / "link.yaml", repository / "list.yaml")):
        with pytest.raises(ConfigError, match="is in SOURCE, so everyone who can write manifests could change it"):
            settings_of([f"--allow-identities={file}", folder])
    (repository.parent / "named.yaml").write_text(MAPPING)
    link = _link(repository / "other.yaml", repository.parent / "named.yaml")
    with pytest.raises(ConfigError, match="is in SOURCE"):
        settings_of([f"--allow-identities={link}", folder])
    own = settings_of([f"--allow-identities={repository.parent / 'named.yaml'}", folder])
    assert summarize(own.allow_identities) == EXPECTED
    (repository / "operator.yaml").write_text(f"allow-identities:\n  {MAPPING}")
    with pytest.raises(ConfigError, match="is in SOURCE"):
        settings_of([f"--config={repository / 'operator.yaml'}", folder])


def test_a_malformed_url_is_refused_when_it_is_opened(tmp_path: Path):
    (tmp_path / "list.yaml").write_text(MAPPING)
    assert settings_of([f"--allow-identities={tmp_path / 'list.yaml'}", "file://["]).source == "file://["


def test_a_file_in_a_folder_of_manifests_without_git_is_refused(tmp_path: Path):
    (tmp_path / "list.yaml").write_text(MAPPING)
    with pytest.raises(ConfigError, match="is in SOURCE"):
        settings_of([f"--allow-identities={tmp_path / 'list.yaml'}", str(tmp_path)])


def _link(path: Path, target: Path) -> Path:
    path.unlink(missing_ok=True)
    path.symlink_to(target)
    return path


@given(st.text(max_size=60))
@example("allow: [{namespaces: null}]")
@example("{allow: &a [*a]}")
@example("a: b")
def test_any_text_is_read_or_refused_with_a_sentence(text: str):
    try:
        allowed = read_allowed_identities(text, "the flag")
    except (ConfigError, ValueError) as error:
        assert str(error)
    else:
        assert "allow" in text
        assert allowed.name == "the flag"
