"""What the image and the jobs install: packages with the hashes of the constraints, and programs with their digests."""

import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.tools.tool_runs import run_script

ROOT = Path(__file__).resolve().parent.parent.parent
IMAGE = ROOT / "deploy" / "image"
PYTHON = """\
#!/bin/sh
case "$*" in
-c*) exit "$TOO_OLD" ;;
"-m venv"*) mkdir -p "$4" ;;
esac
echo "$*" >> "$CALLS"
"""


@pytest.fixture
def machine(tmp_path):
    """Variables of a job, with a Python that only records how it is called."""
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    (tmp_path / "temp").mkdir()
    return {
        "PATH": os.environ["PATH"],
        "PYTHON": str(python),
        "CALLS": str(tmp_path / "calls"),
        "TOO_OLD": "0",
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_PATH": str(tmp_path / "path"),
    }


def run(script, *arguments, **variables):
    return subprocess.run(
        [ROOT / "deploy" / script, *arguments], env=variables, capture_output=True, text=True, check=False
    )


def calls_of(machine):
    file = Path(machine["CALLS"])
    return file.read_text().splitlines() if file.exists() else []


def test_only_what_the_constraints_have_is_downloaded_and_nothing_else_is_requested(machine, tmp_path):
    assert run("install.sh", str(tmp_path / "env"), "keyvault", **machine).returncode == 0
    venv, download, wheel, install = calls_of(machine)
    assert venv == f"-m venv --without-pip {tmp_path}/env"
    assert "--require-hashes --only-binary :all:" in download
    assert download.count("--requirement") == 2
    assert "--no-index" in wheel
    assert "--no-index" in install
    assert install.startswith("-m pip --disable-pip-version-check --quiet --python")
    assert install.endswith(" gitsync-azure[keyvault]")


def test_a_job_installs_once(machine):
    for _ in range(2):
        assert run("pipelines/install.sh", **machine).returncode == 0
    assert len(calls_of(machine)) == 4
    assert Path(machine["GITHUB_PATH"]).read_text() == f"{machine['RUNNER_TEMP']}/gitsync/bin\n" * 2


def test_azure_pipelines_puts_it_on_the_path_by_a_command(machine):
    job = {name: value for name, value in machine.items() if not name.startswith(("RUNNER", "GITHUB"))}
    folder = Path(machine["RUNNER_TEMP"]) / "gitsync"
    folder.mkdir()
    (folder / "ready").touch()
    done = run("pipelines/install.sh", **job, TF_BUILD="True", AGENT_TEMPDIRECTORY=machine["RUNNER_TEMP"])
    assert (done.returncode, done.stdout) == (0, f"##vso[task.prependpath]{folder}/bin\n")


def test_an_old_python_is_refused(machine, tmp_path):
    done = run("install.sh", str(tmp_path / "env"), **{**machine, "TOO_OLD": "1"})
    assert done.returncode == 2
    assert "gitsync needs Python 3.11 or newer" in done.stderr


def make_table(folder, content, digest):
    archive = folder / "helm.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        member = tarfile.TarInfo("linux-arm64/helm")
        member.size = len(content)
        opened.addfile(member, io.BytesIO(content))
    table = folder / "programs.toml"
    found = digest or hashlib.sha256(archive.read_bytes()).hexdigest()
    table.write_text(
        f'[helm]\nversion = "1"\nurl = "{archive.as_uri()}"\nmember = "linux-{{arch}}/helm"\narm64 = "{found}"\n'
        f'[sops]\nversion = "1"\nurl = "file:///nowhere/{{version}}"\narm64 = "{found}"\n'
    )
    return table


FETCH = IMAGE / "fetch_programs.py"


@pytest.mark.parametrize(
    ("names", "digest", "code", "message", "there"),
    [
        (["helm"], "", 0, "", ["helm"]),
        ([], "", 0, "", []),
        (["helm"], "0" * 64, 1, "the table has 000", []),
        (["sops"], "", 1, "sops was not installed: file:///nowhere/1", []),
        (["nothing"], "", 2, "has no nothing for arm64. It has helm, sops.", []),
    ],
)
def test_a_program_is_installed_with_its_digest_alone(tmp_path, names, digest, code, message, there):
    done = run_script(FETCH, make_table(tmp_path, b"program", digest), "arm64", tmp_path / "programs", *names)
    assert done.returncode == code
    assert message in done.stderr
    assert [path.name for path in (tmp_path / "programs").iterdir()] == there
    assert all(
        path.read_bytes() == b"program" and os.access(path, os.X_OK) for path in (tmp_path / "programs").iterdir()
    )


def test_the_table_has_each_program_of_the_image_for_both_machines():
    table = tomllib.loads((IMAGE / "programs.toml").read_text())
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert f'ARG PROGRAMS="{" ".join(table)}"' in dockerfile
    for row in table.values():
        assert {len(row["amd64"]), len(row["arm64"])} == {64}
        assert row["url"].startswith("https://")


def load_tool():
    spec = spec_from_file_location("build_constraints", ROOT / "tools" / "build_constraints.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = load_tool()
HASH = "    --hash=sha256:" + "0" * 64


def test_the_constraints_are_in_step_with_the_project():
    assert TOOL.main(["--check"]) == 0


@pytest.fixture(scope="module")
def distributions():
    """The distributions in the environment, by the path of each module below site-packages. Their lists of files are
    read as text: `Distribution.files` makes an object of each file.
    """
    listed = ((found.name, found.read_text("RECORD") or "") for found in metadata.distributions())
    return {path: name for name, text in listed for path in re.findall(r"^([^,\n]+\.py),", text, re.MULTILINE)}


_IMPORT = re.compile(
    r"^ *(?:from (?P<module>\w[\w.]*) import |import (?P<names>\w[\w., ]*?)(?: as \w+)?(?: *#.*)?$)", re.MULTILINE
)


def list_foreign_imports(source):
    """List the modules of other packages that a module imports. Its text has them: to parse all modules takes seconds."""
    found = (match["module"] or match["names"] for match in _IMPORT.finditer(source))
    names = {name.strip() for text in found for name in text.split(",")}
    return {name for name in names if name.partition(".")[0] not in {*sys.stdlib_module_names, "gitsync"}}


def test_programs_are_fetched_without_other_packages():
    """The image runs it before it has any."""
    assert list_foreign_imports(FETCH.read_text()) == set()
    assert "import gitsync" not in FETCH.read_text()


def find_undeclared(names, declared, distributions):
    """Find the distributions, by the module that shows each, of which `declared` has no requirement."""
    known = {canonicalize_name(Requirement(text).name) for text in declared}
    owners = {}
    for name in names:
        path = name.replace(".", "/")
        owners[name] = distributions.get(f"{path}/__init__.py") or distributions[f"{path}.py"]
    return {name: owner for name, owner in owners.items() if canonicalize_name(owner) not in known}


def test_each_package_that_gitsync_imports_is_declared(distributions):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: needed for name, needed in project["optional-dependencies"].items() if name != "dev"}
    declared = [*project["dependencies"], *chain.from_iterable(extras.values())]
    imported = set().union(*(list_foreign_imports(file.read_text()) for file in (ROOT / "gitsync").rglob("*.py")))
    assert {"azure.core.exceptions", "azure.mgmt.core.policies", "multidict", "yarl"} < imported
    assert find_undeclared(imported, declared, distributions) == {}


@pytest.mark.parametrize(
    ("source", "declared", "undeclared", "why"),
    [
        ("import yarl", ["yarl>=1"], {}, "declared"),
        ("import yarl", ["aiohttp"], {"yarl": "yarl"}, "aiohttp brings it, and a later version may not"),
        ("from azure.core.exceptions import AzureError", ["Azure_Core"], {}, "one of many packages below `azure`"),
        ("from azure.mgmt.core import policies", ["azure-core"], {"azure.mgmt.core": "azure-mgmt-core"}, "its sibling"),
        ("def f():\n    import yaml", [], {"yaml": "PyYAML"}, "imported where it is used"),
        ("import json, gitsync.errors\nfrom . import x", [], {}, "the standard library, and gitsync"),
    ],
)
def test_which_imports_are_undeclared(source, declared, undeclared, why, distributions):
    assert find_undeclared(list_foreign_imports(source), declared, distributions) == undeclared, why


@pytest.mark.parametrize(
    ("text", "requirement", "faults", "why"),
    [
        (f"Rich==14.1 \\\n{HASH}\n", "rich>=13.9", [], "in step"),
        (f"rich==14.1 ; sys_platform == 'linux' \\\n{HASH} \\\n{HASH}\n", "rich", [], "for one system, with two files"),
        (f"rich==12 \\\n{HASH}\n", "rich>=13.9", ["x.txt pins rich 12, and pyproject.toml wants >=13.9."], "too old"),
        (f"rich==14.1 \\\n{HASH}\n", "loguru", ["x.txt has no loguru."], "a new requirement"),
        ("rich==14.1\n", "rich", ["x.txt has no rich.", "x.txt:1: this is not a pin with hashes."], "no hash"),
        (
            f"--index-url https://mirror.example\nrich==14.1 \\\n{HASH}\n",
            "rich",
            ["x.txt:1: this is not a pin with hashes."],
            "the address of an index",
        ),
    ],
)
def test_what_is_wrong_with_constraints(text, requirement, faults, why):
    assert list(TOOL.list_faults("x", [requirement], text)) == faults, why


def test_the_extras_for_users_are_in_the_image_and_those_for_work_are_not():
    project = {
        "build-system": {"requires": ["hatchling"]},
        "project": {
            "name": "gitsync",
            "dependencies": ["rich"],
            "optional-dependencies": {
                "keyvault": ["azure"],
                "all": ["gitsync[keyvault]"],
                "dev": ["gitsync[all]", "pytest"],
            },
        },
    }
    inputs = TOOL.list_inputs(project)
    assert inputs["gitsync"] == ["azure", "rich"]
    assert inputs["dev"] == ["azure", *TOOL.EDITABLE, "hatchling", "pytest", "rich"]
    assert json.dumps(inputs["build"]) == '["hatchling"]'
