"""Two runs that export to one place at once: both saw that nothing is there, and one of them comes second."""

import pytest

from gitsync.errors import SecretStoreError
from gitsync.repository.secrets.sinks.dotenv import DotenvSink
from gitsync.repository.secrets.sinks.folder import FolderSink
from gitsync.repository.secrets.sinks.sops import SopsSink
from tests.support.exports import ONE, TWO, export, owner, write
from tests.support.sops_rig import rig


def a_sops_sink(folder):
    program = rig("double", folder)
    (folder / "out").mkdir()
    program.rules(folder / "out")
    return SopsSink(folder / "out", program.sops())


SINKS = {
    "folder": lambda folder: FolderSink(folder / "out"),
    "dotenv": lambda folder: DotenvSink(folder / ".env"),
    "sops": a_sops_sink,
}


@pytest.mark.parametrize("name", SINKS)
async def test_who_comes_second_writes_nothing(tmp_path, name):
    sink = SINKS[name](tmp_path)
    await sink.check()
    assert await owner(sink) is None
    await write(sink, export({"a": "of-the-first"}))
    with pytest.raises(SecretStoreError, match=f"does not belong to {TWO}, so it is not written") as refused:
        await sink.write(export({"a": "of-the-second"}, owner=TWO))
    assert await owner(sink) == str(ONE)
    assert "of-the" not in str(refused.value)


async def test_what_a_person_put_into_a_folder_meanwhile_stays(tmp_path):
    sink = FolderSink(tmp_path / "out")
    await sink.check()
    theirs = tmp_path / "out" / "secrets" / "default" / "db"
    theirs.mkdir(parents=True, mode=0o700)
    theirs.parent.chmod(0o700)
    (theirs / "a").write_text("theirs")
    with pytest.raises(SecretStoreError, match=r"does not belong to .*, so it is not written"):
        await sink.write(export({"a": "ours"}))
    assert (theirs / "a").read_text() == "theirs"
