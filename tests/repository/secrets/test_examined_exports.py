"""An object that one place cannot hold is written to none."""

import re

import pytest

from gitsync.errors import SecretStoreError
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.sinks.dotenv import DotenvSink
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.sinks.pipeline import PipelineSink
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from tests.support.exports import address, export, tree

SEVERAL = (export({"a": "1"}), export({"a": "hidden\nhidden"}, address("other")))
ALIKE = (export({"b-c": "1"}, address("a")), export({"c": "2"}, address("a-b")))


@pytest.mark.parametrize(
    ("sink", "exports", "said", "why"),
    [
        ("dotenv", SEVERAL, "a of Secret default/other has several lines", "no line of such a file"),
        ("dotenv", ALIKE, "would be DEFAULT_A_B_C", "two objects of one resource that meet in a variable"),
        ("ci", ALIKE, "would be the output DEFAULT_A_B_C", "two that meet in an output"),
        ("ci", SEVERAL, "Azure Pipelines does not support in secrets", "no output of such a host"),
    ],
)
async def test_nothing_is_half_exported(tmp_path, sink, exports, said, why):
    told = []
    last = {"dotenv": DotenvSink(tmp_path / ".env"), "ci": PipelineSink({"TF_BUILD": "True"}, told.append)}[sink]
    export_sinks = ExportSinks((FolderSink(tmp_path / "out"), last), {}, KeptConfigMaps({}))
    await export_sinks.check()
    before = tree(tmp_path)
    with pytest.raises(SecretStoreError, match=re.escape(said)):
        await export_sinks.write(exports)
    assert (tree(tmp_path), told) == (before, []), why
