"""A release is built in a folder: what the tag names, and nothing where tag, version and changelog disagree."""

import hashlib
import http.server
import json
import os
import re
import shutil
import subprocess
import threading
import zipfile
from pathlib import Path

import pytest

from tests.tools.tool_runs import run_script

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = "1.2.0"
CHANGELOG = f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-11-22\n\n### Added\n\n- Releases.\n\n## [1.1.0]\n\n- Old.\n"
STANDING_FOR = "import sys\nfrom pathlib import Path\n"
"""Modules that stand for what reads a package index."""
HOME = "https://github.com/Acme/GitSync"


@pytest.fixture
def index():
    """An index of packages: `answers` has the status and body for a path; any other is not found."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = server.answers.get(self.path, (404, ""))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *words):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.answers = {}
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The project with another version and a small package; what installs it only makes the folder."""
    folder = tmp_path_factory.mktemp("release") / "project"
    for name in ("tools/release.py", "tools/project_urls.py", "README.md", "LICENSE", "NOTICE"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    project = re.sub(
        r'^version = ".+"$', f'version = "{VERSION}"', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE
    )
    (folder / "pyproject.toml").write_text(project)
    (folder / "gitsync").mkdir()
    (folder / "gitsync" / "__init__.py").write_text(f'"""A package."""\n\n__version__ = "{VERSION}"\n')
    (folder / "CHANGELOG.md").write_text(CHANGELOG)
    install = folder / "deploy" / "install.sh"
    install.parent.mkdir()
    install.write_text('#!/bin/sh\necho "$2" > "$1"\n')
    install.chmod(0o755)
    (folder / "cyclonedx_py.py").write_text(
        f"{STANDING_FOR}place = sys.argv.index('--output-file') + 1\nPath(sys.argv[place]).write_text('{{}}')\n"
    )
    for words in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=T", "-c", "user.email=t@x", "commit", "-qm", "Release"],
    ):
        environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_COMMITTER_DATE": "2026-11-22T00:00:00Z"}
        subprocess.run(["git", *words], cwd=folder, env=environment, check=True)
    return folder


@pytest.fixture
def project(template, tmp_path):
    return Path(shutil.copytree(template, tmp_path / "project"))


def release(project, index, tag, folder, repository="Acme/GitSync"):
    environment = {
        "GITHUB_SERVER_URL": "https://github.com",
        "GITHUB_REPOSITORY": repository,
        "GITHUB_OUTPUT": str(project.parent / "outputs"),
        "PACKAGE_INDEX": f"http://127.0.0.1:{index.server_port}",
        "no_proxy": "*",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.syspath_prepend(project / "tools")
        return run_script(project / "tools" / "release.py", tag, folder)


def test_a_tag_becomes_package_sbom_notes_and_checksums(project, index, tmp_path):
    done = release(project, index, f"v{VERSION}", tmp_path / "dist")
    assert done.returncode == 0, done.stderr
    dist = tmp_path / "dist"
    wheel = dist / "package" / f"gitsync_azure-{VERSION}-py3-none-any.whl"
    assert (dist / "notes.md").read_text() == "### Added\n\n- Releases.\n"
    assert (tmp_path / "outputs").read_text() == f"version={VERSION}\nimage=acme/gitsync\n"
    sums = dict(line.split("  ")[::-1] for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sorted(sums) == [
        f"gitsync-{VERSION}.cdx.json",
        f"gitsync_azure-{VERSION}-py3-none-any.whl",
        f"gitsync_azure-{VERSION}.tar.gz",
    ]
    assert sums[wheel.name] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert {member.date_time for member in zipfile.ZipFile(wheel).infolist()} == {(2026, 11, 22, 0, 0, 0)}


@pytest.mark.parametrize(
    ("tag", "changelog", "message"),
    [
        ("v1.3.0", CHANGELOG, f"The tag is v1.3.0, and pyproject.toml has {VERSION}."),
        (VERSION, CHANGELOG, f"or tag v{VERSION}."),
        (f"v{VERSION}", "# Changelog\n\n## [Unreleased]\n\n- New.\n", f"CHANGELOG.md has no lines for {VERSION}."),
        (f"v{VERSION}", f"## [{VERSION}]\n\n## [1.1.0]\n\n- Old.\n", f"CHANGELOG.md has no lines for {VERSION}."),
    ],
)
def test_what_is_not_released(project, index, tmp_path, tag, changelog, message):
    (project / "CHANGELOG.md").write_text(changelog)
    done = release(project, index, tag, tmp_path / "dist")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "dist").exists()


def describe_project(urls, *versions):
    return 200, json.dumps({"info": {"project_urls": urls}, "releases": {version: [] for version in versions}})


TAKEN = "gitsync-azure at the index is of"
UNKNOWN = "did not say whose name gitsync-azure is"


@pytest.mark.parametrize(
    ("answer", "repository", "message"),
    [
        (describe_project({"Homepage": HOME}, "1.1.0"), "Acme/GitSync", ""),
        (
            describe_project({"Homepage": "https://github.com/other/tool"}),
            "Acme/GitSync",
            f"{TAKEN} https://github.com/oth",
        ),
        (describe_project(None), "Acme/GitSync", f"{TAKEN} an unknown repository, not of {HOME}"),
        (describe_project({"Homepage": HOME}), "", f"{TAKEN} {HOME}, not of this one (GITHUB_REPOSITORY is not set)"),
        (describe_project({"Homepage": HOME}, VERSION), "Acme/GitSync", f"has gitsync-azure {VERSION} already"),
        ((503, ""), "Acme/GitSync", "answered 503"),
        ((200, "<html>"), "Acme/GitSync", UNKNOWN),
        ((200, "[]"), "Acme/GitSync", UNKNOWN),
        ((200, "{}"), "Acme/GitSync", UNKNOWN),
    ],
)
def test_a_name_that_is_not_ours_is_not_published(project, index, tmp_path, answer, repository, message):
    index.answers = {"/pypi/gitsync-azure/json": answer}
    done = release(project, index, f"v{VERSION}", tmp_path / "dist", repository)
    assert (done.returncode, (tmp_path / "dist").exists()) == ((2, False) if message else (0, True)), done.stderr
    assert message in done.stderr


def test_an_index_that_cannot_be_reached_is_not_a_free_name(project, index, tmp_path):
    index.server_port = 1  # nothing listens there
    done = release(project, index, f"v{VERSION}", tmp_path / "dist")
    assert done.returncode == 2
    assert UNKNOWN in done.stderr


def test_files_and_images_are_signed(tmp_path):
    cosign = tmp_path / "cosign"
    cosign.write_text('#!/bin/sh\necho "$*" >> calls\n')
    cosign.chmod(0o755)
    command = [ROOT / "deploy" / "release" / "sign.sh", "a b.whl", "host/acme/gitsync@sha256:00"]
    subprocess.run(command, cwd=tmp_path, env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, check=True)
    assert (tmp_path / "calls").read_text().splitlines() == [
        "sign-blob --yes --bundle a b.whl.sigstore.json a b.whl",
        "sign --yes host/acme/gitsync@sha256:00",
    ]
