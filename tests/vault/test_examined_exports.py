"""An object that one place cannot hold is written to none."""

import asyncio

import pytest
from exported import address, export, tree

from gitsync.vault.dotenv import DotenvSink
from gitsync.vault.folder_sink import FolderSink
from gitsync.vault.kept import KeptConfigMaps
from gitsync.vault.outlets import Outlets
from gitsync.vault.points import VaultError


def test_nothing_is_half_exported(tmp_path):
    outlets = Outlets((FolderSink(tmp_path / "out"), DotenvSink(tmp_path / ".env")), {}, KeptConfigMaps({}))

    async def run():
        await outlets.check()
        await outlets.write([export({"a": "1"}), export({"a": "hidden\nhidden"}, address("other"))])

    with pytest.raises(VaultError, match="a of Secret default/other has several lines"):
        asyncio.run(run())
    assert tree(tmp_path) == {}
