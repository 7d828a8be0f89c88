"""Secrets and config maps from a folder, as Kubernetes mounts them."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.repository.secrets.sources.mounted_folder import FolderSource
from gitsync.repository.secrets.store_rules import MOST_BYTES


def put(top, **files):
    for path, content in files.items():
        file = top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())


def source(top, namespace="default"):
    return FolderSource(secrets=top / "secrets", config_maps=top / "maps", namespace=namespace)


async def read(top, name, *keys, namespace="default", object_kind=ObjectKind.SECRET, own="default"):
    found = await source(top, own).read(Address(object_kind, namespace, name), keys)
    return found if found is None else {key: value.reveal() for key, value in found.items()}


@pytest.mark.parametrize(
    ("files", "requested", "expected", "why"),
    [
        ({"team/db/user": "u"}, {"namespace": "team"}, {"user": "u"}, "the namespace is a folder"),
        ({"db/user": "u"}, {}, {"user": "u"}, "the run's own namespace needs none"),
        ({"db/user": "u"}, {"namespace": "team"}, None, "another namespace does"),
        ({"db/user": "flat", "default/db/user": "nested"}, {}, {"user": "nested"}, "the full place comes first"),
        ({"db/db/user": "u"}, {}, None, "a folder of folders is a namespace"),
        ({"other/user": "u"}, {}, None, "no folder of that name"),
        ({"db/user": "u\n"}, {}, {"user": "u\n"}, "a newline at the end is part of it"),
        ({"db/user": "ü\r\n"}, {}, {"user": "ü\r\n"}, "and so is every other byte"),
        ({"db/user": ""}, {}, {"user": ""}, "an empty file is an empty value"),
        ({"db/.git": "x", "db/a": "1"}, {}, {"a": "1"}, "a dotfile is no key of a map"),
    ],
)
async def test_the_layout(tmp_path, files, requested, expected, why):
    (tmp_path / "secrets").mkdir()
    put(tmp_path / "secrets", **files)
    assert await read(tmp_path, "db", **requested) == expected, why


async def test_some_keys_of_an_object(tmp_path):
    put(tmp_path / "secrets", **{"db/a": "1", "db/b": "2", "db/.dockerconfigjson": "{}"})
    assert await read(tmp_path, "db", "a", "c") == {"a": "1"}
    assert await read(tmp_path, "db", ".dockerconfigjson") == {".dockerconfigjson": "{}"}
    assert await read(tmp_path, "db", "c") == {}
    (tmp_path / "secrets" / "db" / "folder").mkdir()
    assert await read(tmp_path, "db", "folder") == {}


async def test_config_maps_lie_in_a_folder_of_their_own(tmp_path):
    put(tmp_path, **{"secrets/db/a": "secret", "maps/db/a": "plain"})
    assert await read(tmp_path, "db", object_kind=ObjectKind.CONFIG_MAP) == {"a": "plain"}


async def test_a_folder_that_is_not_given_has_nothing():
    nothing = FolderSource(secrets=None, config_maps=None, namespace="default")
    assert await nothing.read(Address(ObjectKind.SECRET, "default", "db"), ["a"]) is None


async def test_a_secret_as_kubernetes_mounts_it(tmp_path):
    """Each key is a link into ..data, which is a link to a folder with a time in its name."""
    mounted = tmp_path / "secrets" / "db"
    put(mounted, **{"..2024_01_02_03_04_05.1/password": "hidden"})
    (mounted / "..data").symlink_to("..2024_01_02_03_04_05.1")
    (mounted / "password").symlink_to("..data/password")
    assert await read(tmp_path, "db") == {"password": "hidden"}
    assert await read(tmp_path, "db", "password") == {"password": "hidden"}


def link_out(top):
    put(top, **{"elsewhere/a": "hidden"})
    put(top, **{"secrets/db/b": "x"})
    (top / "secrets" / "db" / "a").symlink_to(top / "elsewhere" / "a")


def folder_link_out(top):
    put(top, **{"elsewhere/a": "hidden"})
    (top / "secrets").mkdir()
    (top / "secrets" / "db").symlink_to(top / "elsewhere")


def loop(top):
    (top / "secrets" / "db").mkdir(parents=True)
    (top / "secrets" / "db" / "a").symlink_to("a")


def pipe(top):
    (top / "secrets" / "db").mkdir(parents=True)
    os.mkfifo(top / "secrets" / "db" / "a")


def binary(top):
    put(top, **{"secrets/db/a": b"hidden\xff"})


def surrogate(top):
    put(top, **{"secrets/db/a": b"hidden\xed\xa0\x80"})


def large(top):
    put(top, **{"secrets/db/a": b"x" * (MOST_BYTES + 1)})


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (link_out, "link to a target outside"),
        (folder_link_out, "link to a target outside"),
        (loop, "cannot be read|broken symbolic link"),
        (pipe, "is not a file"),
        (binary, "is not text in UTF-8"),
        (surrogate, "is not text in UTF-8"),
        (large, "exceeds the limit of 1048576 bytes"),
        (lambda top: None, "There is no folder .*secrets.* Create it, or check --secrets-folder"),
    ],
)
@pytest.mark.parametrize("keys", [["a"], []])
async def test_what_cannot_be_read_is_unknown(tmp_path, made, said, keys):
    made(tmp_path)
    with pytest.raises(SecretStoreError, match=said) as refused:
        await read(tmp_path, "db", *keys)
    assert "hidden" not in str(refused.value)


async def test_the_largest_value_is_read(tmp_path):
    put(tmp_path / "secrets", **{"db/a": b"x" * MOST_BYTES})
    assert len((await read(tmp_path, "db", "a"))["a"]) == MOST_BYTES


@pytest.mark.parametrize("name", ["..", "../secrets", "a/b"])
async def test_a_name_does_not_lead_elsewhere(tmp_path, name):
    (tmp_path / "secrets").mkdir()
    with pytest.raises(SecretStoreError, match="its name"):
        await read(tmp_path, name, "a")


READ_AS_SOMEBODY = """
import asyncio, os, sys
from pathlib import Path
from gitsync.model.export import Address, ObjectKind
from gitsync.repository.secrets.sources.mounted_folder import FolderSource
from gitsync.errors import SecretStoreError
if os.geteuid() == 0:
    os.setgroups([])
    os.setegid(65534)
    os.seteuid(65534)  # root reads everything
for line in sys.stdin:
    top, *keys = line.split()
    source = FolderSource(secrets=Path(top), config_maps=None, namespace="default")
    try:
        print(asyncio.run(source.read(Address(ObjectKind.SECRET, "default", "db"), keys)), flush=True)
    except SecretStoreError as error:
        print(error, flush=True)
"""


CLOSED = [("secrets", "a"), ("secrets/db", "a"), ("secrets/db", ""), ("secrets/db/a", "a")]


def test_what_this_user_may_not_read_is_unknown():
    command = [sys.executable, "-c", READ_AS_SOMEBODY]
    with (
        tempfile.TemporaryDirectory() as made,  # the folders above those of pytest are closed to others
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as somebody,
    ):
        top = Path(made)
        top.chmod(0o755)
        put(top / "secrets", **{"db/a": "hidden"})
        for closed, key in CLOSED:
            told = []
            before = (top / closed).stat().st_mode
            for mode in (before, 0):
                (top / closed).chmod(mode)
                somebody.stdin.write(f"{top}/secrets {key}\n")
                told.append(somebody.stdout.readline())
            (top / closed).chmod(before)
            assert told[0] == "{'a': <secret>}\n"
            assert "Permission denied. Grant this user read access." in told[1], (closed, key)
        somebody.stdin.close()
