"""Save into a folder again and again, killed (SIGKILL) at the first, second, third … touch of the file system.

Run by a test: `python -m tests.repository.git.killed_while_saving FOLDER`. Prints how many kills there were; an assertion fails
where what is left cannot be loaded, reports something that was never recorded, or cannot be brought up to date by the
next run.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from gitsync.repository.git.state.state_folder import StatusFolder
from tests.repository.git.remembered import a_record, an_update
from tests.support.parts import change

TOUCHES = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate")
OLD = {name: a_record(name) for name in ("changed", "same", "gone")}
NEW = {"changed": change(OLD["changed"], generation=2), "same": OLD["same"], "added": a_record("added")}


def save(folder, update):
    with StatusFolder(folder) as store:
        store.load()
        store.check_writable()
        store.save(update)


def save_and_die(folder, update, at):
    """In a process of its own."""
    touches = 0

    def count(event, arguments):
        nonlocal touches
        # A relative name is one in an open folder.
        if event in TOUCHES and (str(folder) in str(arguments[0]) or not str(arguments[0]).startswith("/")):
            touches += 1
            if touches == at:
                os.kill(os.getpid(), signal.SIGKILL)

    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    sys.addaudithook(count)
    save(folder, update)
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


def trial(folder, old, at):
    """One kill, and the next run after it. Returns whether there was a kill at all."""
    shutil.rmtree(folder, ignore_errors=True)
    if old:
        save(folder, an_update(*old.values(), revision="a" * 40))
    forget = tuple(old[name].key for name in old.keys() - NEW.keys())
    update = an_update(*NEW.values(), forget=forget, revision="b" * 40)
    killed = save_and_die(folder, update, at)
    known, revision = check(folder, old, NEW, ("a" * 40 if old else None, "b" * 40))
    assert revision != "b" * 40 or known == NEW, "the revision moves last"
    save(folder, update)
    assert check(folder, NEW, NEW, ("b" * 40,))[0] == NEW
    undisturbed = folder.with_name("undisturbed")
    save(undisturbed, an_update(*NEW.values(), revision="b" * 40))
    assert files(folder) == files(undisturbed), "the texts about the records, too"
    return killed


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def main(folder):
    kills = 0
    for old in ({}, OLD):
        at = 1
        while trial(folder, old, at):
            at += 1
            kills += 1
    sys.stdout.write(f"{kills}\n")


main(Path(sys.argv[1]))
