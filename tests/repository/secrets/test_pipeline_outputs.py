"""Exports as outputs of a step: masked first, and no value that commands anything."""

import re

import pytest

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import ObjectKind
from gitsync.repository.secrets.sinks.pipeline import PipelineSink
from tests.support.exports import ONE, address, export, owner, remove, write


class Host:
    """What a host of pipelines sees, in the order in which it happens."""

    def __init__(self, tmp_path, name):
        self.output = tmp_path / "output"
        self.output.write_text("BEFORE=1\n")
        self.variables = {name: "true", "GITHUB_OUTPUT": str(self.output)}
        self.told = []
        self.sink = PipelineSink(self.variables, self.tell)

    def tell(self, line):
        value = line.removeprefix("::add-mask::")
        assert f"\n{value}\n" not in self.output.read_text(), "masked before anything else"
        self.told.append(line)


@pytest.fixture
def github(tmp_path):
    return Host(tmp_path, "GITHUB_ACTIONS")


@pytest.fixture
def azure(tmp_path):
    return Host(tmp_path, "TF_BUILD")


async def test_github_masks_each_line_and_then_takes_outputs(github):
    await write(github.sink, export({"b": "hidden 1%\r\n{\n  hidden 2\n", "a": "hidden"}))
    assert github.told == ["::add-mask::hidden", "::add-mask::hidden 1%25", "::add-mask::hidden 2"]
    found = re.fullmatch(
        r"BEFORE=1\nDEFAULT_DB_A<<(gitsync-[0-9a-f]{32})\nhidden\n\1\nDEFAULT_DB_B<<\1\nhidden 1%\r\n{\n  hidden 2\n\n\1\n",
        github.output.read_bytes().decode(),
    )
    assert found


async def test_a_delimiter_is_never_used_twice(github):
    await write(github.sink, export({"a": "hidden"}), export({"a": "other"}, address("other")))
    assert len(set(re.findall("<<(.*)", github.output.read_text()))) == 2


async def test_config_maps_are_not_masked(github):
    await write(github.sink, export({"a": "plain"}, address(object_kind=ObjectKind.CONFIG_MAP)))
    assert github.told == []
    assert "plain" in github.output.read_text()


async def test_azure_pipelines_takes_variables(azure):
    await write(
        azure.sink,
        export({"a": "x%]y;z"}),
        export({"b": "1\r\n##vso[task.complete]"}, address("cm", object_kind=ObjectKind.CONFIG_MAP)),
    )
    assert azure.told == [
        "##vso[task.setvariable variable=DEFAULT_DB_A;issecret=true;isOutput=true]x%AZP25]y;z",
        "##vso[task.setvariable variable=DEFAULT_CM_B;issecret=false;isOutput=true]1%0D%0A##vso[task.complete]",
    ]
    assert azure.output.read_text() == "BEFORE=1\n"


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (export({"b-c": "hidden", "b.c": "x"}, address("x")), "DEFAULT_X_B_C, which is its key b-c"),
        (
            export({"c": "hidden"}, address("db-b")),
            "would be the output DEFAULT_DB_B_C, which is b_c of Secret default/db",
        ),
        (export({"a b": "hidden"}, address("x")), "its key"),
        (export({"a": "hidden\ud800"}, address("x")), "is not text"),
    ],
)
async def test_what_cannot_be_an_output(github, second, said):
    await write(github.sink, export({"b_c": "1"}))
    before = github.output.read_text()
    with pytest.raises(SecretStoreError, match=said) as refused:
        await write(github.sink, second)
    assert "hidden" not in str(refused.value)
    assert github.output.read_text() == before


async def test_azure_pipelines_takes_no_secret_of_several_lines(azure):
    with pytest.raises(
        SecretStoreError, match="a has several lines, which Azure Pipelines does not support in secrets"
    ):
        await write(azure.sink, export({"a": "hidden\nhidden"}))
    assert azure.told == []


async def test_an_object_of_this_run_is_told_once_and_replaced(github):
    assert await owner(github.sink) is None
    await write(github.sink, export({"a": "hidden"}), export({"a": "hidden"}))
    assert await owner(github.sink) == str(ONE)
    assert github.output.read_text().count("DEFAULT_DB_A") == 1
    await github.sink.write(export({"a": "other"}))
    assert github.output.read_text().count("DEFAULT_DB_A") == 2, "the host takes the last"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({}, "supports only GitHub Actions and Azure Pipelines.* --export-to dotenv: GitLab"),
        ({"GITLAB_CI": "true"}, "supports only GitHub Actions and Azure Pipelines"),
        ({"GITHUB_ACTIONS": "true"}, "GITHUB_OUTPUT is ''"),
        ({"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": "/nowhere/at/all"}, "GITHUB_OUTPUT is '/nowhere/at/all'"),
    ],
)
async def test_elsewhere_the_run_is_refused(variables, said):
    with pytest.raises(ConfigError, match=said):
        await PipelineSink(variables, print).check()


async def test_a_file_of_outputs_that_is_gone(github):
    await github.sink.check()
    github.output.unlink()
    with pytest.raises(SecretStoreError, match=r"The file of outputs .* cannot be written: No such file") as refused:
        await PipelineSink(github.variables, lambda _line: None).write(export({"a": "hidden"}))
    assert "hidden" not in str(refused.value)


async def test_an_output_cannot_be_taken_back(github):
    await write(github.sink, export({"a": "1"}))
    before = github.output.read_bytes()
    await remove(github.sink)
    assert (github.output.read_bytes(), github.told) == (before, ["::add-mask::1"])
