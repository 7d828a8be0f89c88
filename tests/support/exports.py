"""Exports in one line, for tests of sinks."""

from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret

ONE = Key("storage.azure.com", "StorageAccount", "default", "one")
TWO = Key("storage.azure.com", "StorageAccount", "default", "two")


def address(name="db", namespace="default", object_kind=ObjectKind.SECRET):
    return Address(object_kind, namespace, name)


def export(data, at=None, owner=ONE, **more):
    return Export(address=at or address(), owner=Owner(owner), data={k: Secret(v) for k, v in data.items()}, **more)


async def write(sink, *exports):
    """As a run does: after the check."""
    await sink.check()
    for export in exports:
        await sink.write(export)


async def owner(sink, at=None):
    return await sink.owner(at or address())


async def remove(sink, at=None, of=ONE):
    await sink.remove(at or address(), of)


def tree(top):
    """Every file below a folder, with its content, except those that keep the folder out of a repository."""
    files = (f for f in sorted(top.rglob("*")) if f.is_file() and f.name not in {".gitignore", ".gitsyncignore"})
    return {str(f.relative_to(top)): f.read_bytes() for f in files}


def times(top):
    return {str(f.relative_to(top)): f.lstat().st_mtime_ns for f in sorted(top.rglob("*"))}
