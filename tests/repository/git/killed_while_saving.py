"""Save into a folder, killed (SIGKILL) at the first, second, third … touch of the file system.

Run by a test: `python -m tests.repository.git.killed_while_saving FOLDER`. Prints how many moments there were; an assertion fails
where what is left cannot be loaded, reports something that was never recorded, or cannot be brought up to date by the
next run, or where the lock of a killed process holds. What a kill leaves is copied just before each touch, and compared
with what some real kills leave.
"""

import os
import random
import shutil
import signal
import sys
from pathlib import Path

from gitsync.errors import StateError
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.repository.git.remembered import a_record, an_update
from tests.support.parts import change

TOUCHES = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")
OLD = {name: a_record(name) for name in ("changed", "same", "gone")}
NEW = {"changed": change(OLD["changed"], generation=2), "same": OLD["same"], "added": a_record("added")}
REAL = 3
"""Moments at which a process is really killed."""


def save(folder, update):
    with StatusFolder(folder) as store:
        store.load()
        store.check_writable()
        store.save(update)


def save_and_watch(folder, update, touch):
    """Save, and call `touch` before each touch of the folder; what that touches itself does not count."""
    is_saving = True

    def watch(event, arguments):
        nonlocal is_saving
        # A relative name is one in an open folder.
        if event in TOUCHES and is_saving and (str(folder) in str(arguments[0]) or str(arguments[0])[:1] != "/"):
            is_saving = False
            touch()
            is_saving = True

    sys.addaudithook(watch)
    save(folder, update)
    is_saving = False


def list_moments(folder, update):
    """Save, and list copies of the folder: as it was before each touch, and in the end."""
    moments = []

    def copy():
        moment = folder.with_name(f"moment-{len(moments)}")
        shutil.rmtree(moment, ignore_errors=True)
        if folder.exists():
            shutil.copytree(folder, moment)
        moments.append(moment)

    save_and_watch(folder, update, copy)
    copy()
    return moments


def save_and_die(folder, update, at):
    """In a process of its own, which is killed at a touch."""
    left = at

    def count():
        nonlocal left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    child = os.fork()
    if child:
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        return
    save_and_watch(folder, update, count)
    os._exit(0)


def check(folder, old, new, revisions):
    with StatusFolder(folder) as store:
        state = store.load()
    known = {key.name: record for key, record in state.records.items()}
    for name in old.keys() | new.keys():
        assert known.get(name) in (old.get(name), new.get(name)), name
    assert known.keys() <= old.keys() | new.keys()
    assert state.revision in revisions
    return known, state.revision


def files(folder):
    return {path: content for path, content in everything(folder).items() if content is not None}


def everything(folder):
    """All files with their contents, and all folders."""
    paths = folder.rglob("*")
    return {path.relative_to(folder): path.read_bytes() if path.is_file() else None for path in paths}


def try_moments(folder, old, undisturbed):
    """Check what a kill at each moment of a save over the records `old` leaves, and the next run after it. Returns how
    many moments there are.
    """
    start, killed = folder.with_name("start"), folder.with_name("killed")
    if old:
        save(start, an_update(*old.values(), revision="a" * 40))
        shutil.copytree(start, folder)
    forget = tuple(old[name].key for name in old.keys() - NEW.keys())
    update = an_update(*NEW.values(), forget=forget, revision="b" * 40)
    moments = list_moments(folder, update)
    for at in random.sample(range(len(moments) - 1), REAL):
        if old:
            shutil.copytree(start, killed)
        save_and_die(killed, update, at)
        both = [files(each) for each in (killed, moments[at])]
        for left in both:
            left.pop(Path(".lock"), None)  # has the number of the process
        assert both[0] == both[1], at
        shutil.rmtree(killed, ignore_errors=True)
    expected = files(undisturbed)
    left = None
    for moment in moments:
        before, left = left, everything(moment)
        if left == before:
            continue  # the touch before was a look
        known, revision = check(moment, old, NEW, ("a" * 40 if old else None, "b" * 40))
        assert revision != "b" * 40 or known == NEW, "the revision moves last"
        save(moment, update)
        assert files(moment) == expected, "the records, and the texts about them"
    return len(moments)


def try_lock(folder):
    """Check that a run that was killed holds no lock any more, and that it did."""
    ready, begun = os.pipe()
    holder = os.fork()
    if not holder:
        folder.mkdir(parents=True)
        StatusFolder(folder).check_writable()
        os.write(begun, b"1")
        signal.pause()
    os.close(begun)  # so that the end of a process that could not begin is seen
    os.read(ready, 1)
    with StatusFolder(folder) as store:
        try:
            store.check_writable()
        except StateError as error:
            assert f"pid {holder})" in str(error), error
        else:
            raise AssertionError("the lock is not held")
        finally:
            os.kill(holder, signal.SIGKILL)
            os.waitpid(holder, 0)
    save(folder, an_update(*NEW.values(), revision="b" * 40))


def main(folder):
    undisturbed = folder.with_name("undisturbed")
    save(undisturbed, an_update(*NEW.values(), revision="b" * 40))
    assert check(undisturbed, NEW, NEW, ("b" * 40,))[0] == NEW
    moments = 0
    for number, old in enumerate(({}, OLD)):
        moments += try_moments(folder / str(number) / "state", old, undisturbed)
    try_lock(folder / "locked")
    sys.stdout.write(f"{moments}\n")


main(Path(sys.argv[1]))
