"""Who may give a setting: the operator all of them, a file in a git repository only those that describe the source."""

import http.server
import json
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from gitsync.errors import ConfigError
from gitsync.settings.config.config import SETTINGS, Config
from gitsync.settings.config.config_file import SourceFile, check_source_file, join_source_settings
from gitsync.settings.config.setting import Authority, SettingForm
from gitsync.settings.files.checkouts import is_in_repository
from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository

SOURCE_SETTINGS = {"aso", "ignore", "namespace", "tags", "this_repository", "units", "unknown_fields"}
GROUP = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: shop
spec:
  location: westeurope
"""


def git(folder, *arguments):
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder, **files):
    """A commit of these files; a keyword is a path, with __ for its dot."""
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return commit_all(folder)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    init_repository(folder)
    commit(folder, group__yaml=GROUP)
    return folder


@pytest.fixture
def work(tmp_path, template):
    """A work tree with one manifest."""
    return Path(shutil.copytree(template, tmp_path / "estate"))


def value_for(setting):
    """A value that parses."""
    texts = {
        SettingForm.SWITCH: "true",
        SettingForm.COUNT: "1",
        SettingForm.POSITIVE: "1",
        SettingForm.SHARE: "0.5",
        SettingForm.RELEASE: "2.20",
        SettingForm.SHARD: "2/8",
        SettingForm.DURATION: "1m",
        SettingForm.URL: "https://a.test",
        SettingForm.UNITS: "[{path: a}]",
        SettingForm.IGNORE: "[spec.tags.team]",
        SettingForm.TAGS: "{team: web}",
    }
    return setting.choices[-1] if setting.choices else texts.get(setting.form, "text")


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda s: s.name)
def test_every_setting_has_a_class_and_a_repository_gives_only_source_settings(setting, tmp_path):
    assert (setting.authority is Authority.SOURCE) == (setting.name in SOURCE_SETTINGS)
    file = tmp_path / "gitsync.yaml"
    file.write_text(f"# settings\n{setting.key or setting.name.replace('_', '-')}: {value_for(setting)}\n")
    if setting.name in SOURCE_SETTINGS:
        check_source_file(file)
        return
    with pytest.raises(ConfigError) as refused:
        check_source_file(file)
    message = str(refused.value)
    assert f"{file}:2: " in message
    if setting.form is not SettingForm.SECRET:  # those have one way in any case
        assert "--config" in message
        assert f"the variable {setting.variables[0]}" in message
        assert setting.flag in message


class Listener(http.server.ThreadingHTTPServer):
    """Counts each caller."""

    def __init__(self):
        self.calls = []
        listener = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                listener.calls.append(self.path)
                self.send_error(500)

            do_GET = do_PUT = do_POST  # noqa: N815 - names of http.server

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def listener():
    server = Listener()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


HOSTILE = [
    ("endpoint: {url}", "requests and their token"),
    ("authority: {url}", "the client secret"),
    ("audience: {url}", "a token for somebody else"),
    ("credential: anonymous", "the identity"),
    ("ca-bundle: evil.pem", "who is trusted as Azure"),
    ("emulator: true", "nothing would reach Azure, and all would look well"),
    ("secret-sources: [folder]\nsecrets-folder: /etc", "files of the machine as secrets"),
    ("export-to: [folder]\nexport-folder: out", "where secrets go"),
    ("export-to: [key-vault]\nkey-vault: https://evil.vault.azure.net", "the same, further away"),
    ("prune: true\nmax-deletes: 1000", "deletes"),
    ("agent: other", "whose resources are touched"),
    ("status-dir: /tmp", "where the state is"),
    ("report: /tmp/report", "where a report is written"),
    ("output: json", "what a pipeline reads"),
]


@pytest.mark.parametrize("command", ["plan", "sync", "validate", "render"])
@pytest.mark.parametrize(("text", "why"), HOSTILE, ids=[row[0].split(":")[0] for row in HOSTILE])
def test_a_committed_file_leads_nothing_elsewhere(work, listener, text, why, command):
    url = f"http://127.0.0.1:{listener.server_address[1]}"
    commit(work, gitsync__yaml=text.format(url=url) + "\n")
    ended = run_here(
        command,
        folder=work,
        AZURE_CLIENT_SECRET="s3cret",
        AZURE_CLIENT_ID="app",
        AZURE_TENANT_ID="tenant",
        AZURE_SUBSCRIPTION_ID=SUBSCRIPTION,
        GITSYNC_CREDENTIAL="client-secret",
    )
    key = text.split(":")[0]
    assert (ended.code, ended.out) == (2, ""), why
    assert f"gitsync.yaml:1: {key} is an operator setting" in ended.err
    assert "--config" in ended.err
    assert listener.calls == []


def validated(*arguments, folder, **variables):
    ended = run_here("validate", *arguments, "--output", "json", folder=folder, **variables)
    return ended.code, json.loads(ended.out or "{}"), ended.err


def test_the_operator_gives_everything_by_a_named_file(work):
    (work.parent / "ci.yaml").write_text(f"emulator: true\nsubscription: {SUBSCRIPTION}\nprune: true\n")
    ended = run_here("plan", "--config", "../ci.yaml", "--output", "json", folder=work)
    assert ended.code == 0, ended.err
    assert [r["verdict"] for r in json.loads(ended.out)["resources"]] == ["create"]


def test_a_working_folder_outside_of_git_gives_everything(tmp_path):
    (tmp_path / "group.yaml").write_text(GROUP)
    (tmp_path / "gitsync.yaml").write_text(f"emulator: true\nsubscription: {SUBSCRIPTION}\noutput: json\n")
    ended = run_here("plan", folder=tmp_path)
    assert (ended.code, json.loads(ended.out)["summary"]) == (0, {"create": 1}), ended.err


def namespaces(ended_out):
    return [resource["namespace"] for resource in json.loads(ended_out)["resources"]]


def test_a_source_gives_its_own_settings_at_the_revision_that_is_read(work):
    first = commit(work, gitsync__yaml="namespace: first\n")
    commit(work, gitsync__yaml="namespace: second\n")
    read = ["render", "--output", "json"]
    outside = {"folder": work.parent}
    rows = [
        (run_here(*read, folder=work), "second", "the working folder is the source"),
        (run_here(*read, str(work), **outside), "second", "a folder elsewhere"),
        (run_here(*read, str(work), "--ref", first, **outside), "first", "an earlier revision of it"),
        (run_here(*read, f"file://{work}", **outside), "second", "a URL"),
        (run_here(*read, f"file://{work}", "--namespace", "mine", **outside), "mine", "the operator goes first"),
        (run_here(*read, folder=work, GITSYNC_NAMESPACE="mine"), "mine", "by variable as well"),
    ]
    for ended, expected, why in rows:
        assert ended.code == 0, (why, ended.err)
        assert namespaces(ended.out) == [expected], why


def test_the_root_of_the_source_counts_and_not_the_folder_of_the_manifests(work):
    (work / "infra").mkdir()
    (work / "group.yaml").rename(work / "infra" / "group.yaml")
    (work / "infra" / "gitsync.yaml").write_text("namespace: inner\n")
    commit(work, gitsync__yaml="namespace: outer\n")
    ended = run_here("render", "--path", "infra", "--output", "json", folder=work)
    assert namespaces(ended.out) == ["outer"]


def test_each_of_two_revisions_has_its_own(work):
    first = commit(work, gitsync__yaml="namespace: first\n")
    second = commit(work, gitsync__yaml="namespace: second\n")
    ended = run_here("plan", "--from", first, "--to", second, "--output", "json", "--prune", folder=work)
    found = {(r["namespace"], r["verdict"]) for r in json.loads(ended.out)["resources"]}
    assert {namespace for namespace, _ in found} == {"first", "second"}, ended.err


def test_an_operator_setting_in_a_fetched_source_is_refused(work):
    commit(work, gitsync__yaml="namespace: first\nendpoint: https://evil.test\n")
    ended = run_here("validate", f"file://{work}", folder=work.parent)
    assert ended.code == 2
    assert "gitsync.yaml:2: endpoint is an operator setting" in ended.err


def test_a_run_takes_unknown_fields_as_its_source_sets(work):
    commit(work, group__yaml=GROUP + "  colour: blue\n")
    strict = run_here("validate", folder=work)
    commit(work, gitsync__yaml="unknown-fields: warn\n")
    lenient = run_here("validate", folder=work)
    assert (strict.code, lenient.code) == (1, 0)


WRONG = [
    ("unknown-fields: maybe\n", "gitsync.yaml:1: unknown-fields: expected", "a value that there is not"),
    ("namespaces: a\n", "Did you mean namespace?", "a slip"),
    ("git-token: abc\n", "git-token is a secret, which a file must not contain", "a secret"),
    ("namespace: [", "this is not YAML", "broken YAML"),
    ("namespace: " + "[" * 500 + "\n", "gitsync.yaml nests values too deeply", "a value that is nested without end"),
    ("# " + "x" * 200_000 + "\n", "has more than 100000 bytes", "a file without end"),
    ("- a\n", "expected a mapping of settings", "a list"),
]


@pytest.mark.parametrize(("text", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_a_file_that_is_wrong_is_refused_with_its_line(work, text, message, why):
    commit(work, gitsync__yaml=text)
    ended = run_here("validate", str(work), folder=work.parent)
    assert ended.code == 2, why
    assert message in ended.err
    assert "Traceback" not in ended.err


def test_a_repository_is_known_without_git(tmp_path):
    plain, work, bare = tmp_path / "plain", tmp_path / "work", tmp_path / "bare"
    for folder in (plain, work / ".git", work / "deep" / "down", bare):
        folder.mkdir(parents=True)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".git").write_text("gitdir: elsewhere\n")
    for name in ("HEAD", "objects", "refs"):
        (bare / name).touch()
    (plain / "way-in").symlink_to(work / "deep")
    rows = [
        (plain, False, "a folder like any other"),
        (work / "deep" / "down", True, "below a work tree"),
        (tmp_path / "linked", True, "a work tree whose repository is elsewhere"),
        (bare, True, "a folder that looks like a bare repository, even with empty files"),
        (plain / "way-in" / "down", True, "into a work tree by a link"),
    ]
    for folder, expected, why in rows:
        assert is_in_repository(Path(folder)) is expected, why


def test_a_link_into_a_work_tree_is_a_file_of_that_work_tree(work, tmp_path):
    commit(work, gitsync__yaml="endpoint: https://evil.test\n")
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "gitsync.yaml").symlink_to(work / "gitsync.yaml")
    ended = run_here("validate", folder=plain)
    assert (ended.code, "endpoint is an operator setting" in ended.err) == (2, True)


def test_the_python_api_goes_first_too():
    file = SourceFile(path="gitsync.yaml", content=b"namespace: theirs\nunknown-fields: warn\n")
    found = join_source_settings(Config(namespace="mine"), file)
    assert (found.namespace, found.unknown_fields) == ("mine", "warn")
    assert join_source_settings(Config(), None).namespace == "default"
