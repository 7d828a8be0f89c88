"""State on a branch: what is committed and when, who wins a race, and what is found out before anything is written."""

import json
import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitsync.errors import PublishError, StateError
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.record import Claim, PendingOperation, State
from gitsync.repository.git.git_access import GitAccess, open_remote
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.branch import StatusBranch
from gitsync.repository.git.state.commits import Author
from gitsync.repository.git.state.store import compute_changes
from tests.repository.git.remembered import a_record, an_update, read_status, write_status
from tests.support.branch_files import list_branches, read_branch_files
from tests.support.parts import change

NAME = "gitsync/status"


@pytest.fixture
def remote(bare):
    return open_remote(Url(bare.url, "file"), GitAccess())


@pytest.fixture
def store(remote, clock):
    with StatusBranch(remote, NAME, clock=clock, patience=0.01) as store:
        yield store


def another(remote, clock):
    return StatusBranch(remote, NAME, clock=clock, patience=0.01)


def commits(bare) -> int:
    return int(bare.git("rev-list", "--count", NAME))


def show(bare, path: str) -> str:
    return read_branch_files(bare.path, NAME)[path].decode().strip()


def test_a_branch_that_is_not_there_is_an_empty_state(store):
    assert store.load() == State({})


def test_what_is_saved_is_loaded(store, bare, remote, clock):
    store.load()
    one, other = a_record("one"), a_record("other", owner=a_record("one").key)
    assert store.save(an_update(one, other))
    with another(remote, clock) as again:
        assert again.load() == State({one.key: one, other.key: other}, "a" * 40)
    assert bare.git("ls-tree", "-r", "--name-only", NAME).splitlines() == [
        "SUMMARY.md",
        "default/resources.azure.com/ResourceGroup/one.json",
        "default/resources.azure.com/ResourceGroup/other.json",
        "inventory.json",
        "inventory.yaml",
        "report.json",
    ]
    assert show(bare, "SUMMARY.md") == "# Summary"
    inventory = json.loads(show(bare, "inventory.json"))
    assert (inventory["schema"], inventory["revision"]) == (2, "a" * 40)
    assert inventory["resources"][0] == {
        "key": "ResourceGroup.resources.azure.com/default/one",
        "armId": "/subscriptions/0/resourceGroups/one",
        "claim": "created",
        "policy": "manage",
        "generation": 1,
        "ready": "True",
    }


def test_the_branch_is_an_orphan_and_the_commit_names_what_it_is_about(cloned, bare, remote, clock):
    author = Author("Robo <script>\n", "robo@example.com")
    with StatusBranch(remote, NAME, clock=clock, author=author) as store:
        store.load()
        store.save(an_update(a_record("one"), headline="Sync 1\nresource"))
    said = bare.git("log", "--format=%an|%ae|%cn|%at|%P|%B", NAME)
    who = "Robo script|robo@example.com|Robo script|1714557600||"
    assert said == f"{who}Sync 1 resource [skip ci]\n\nRevision: {'a' * 40}"
    assert bare.git("log", "--format=%(trailers:key=Revision,valueonly)", NAME) == "a" * 40
    assert bare.git("rev-parse", "main") == cloned.git("rev-parse", "main")


def test_a_run_without_a_revision_names_none(store, bare):
    store.load()
    store.save(an_update(a_record("one"), revision=None))
    assert bare.git("log", "--format=%B", NAME) == "Sync 1 resource [skip ci]"
    assert "revision" not in show(bare, "inventory.json")


READY = a_record("one").condition
FAILED = Condition(
    status=ConditionStatus.FALSE, reason="Failed", message="no", time="2024-05-01T10:00:00Z", request_id="1"
)


SAME = [
    (a_record("none"), a_record("none"), "nothing at all"),
    (a_record("time"), a_record("time", condition=replace(READY, time="2025-01-01T00:00:00Z")), "another time"),
    (a_record("id", condition=FAILED), a_record("id", condition=replace(FAILED, request_id="2")), "another request"),
    (a_record("equal"), a_record("equal", applied={"location": "westeurope"}), "an equal body"),
    (a_record("order", applied={"a": 1, "b": [2]}), a_record("order", applied={"b": [2], "a": 1.0}), "an equal body"),
]


def test_no_commit_where_nothing_changed(remote, clock, bare):
    write_status(bare.path, an_update(*(old for old, _, _ in SAME)))
    with another(remote, clock) as store:
        store.load()
        for _, new, why in SAME:
            assert not store.save(an_update(new, revision="b" * 40, summary="new", report="new")), why
    assert commits(bare) == 1
    assert read_status(bare.path).revision == "a" * 40


CHANGES = (
    {"claim": Claim.ADOPTED},
    {"applied": {"location": "northeurope"}},
    {"applied": None},
    {"baseline": {"location": "northeurope"}},
    {"generation": 2},
    {"operation": PendingOperation("update", "2024-05-01T10:00:00Z")},
    {"owner": a_record("x").key},
    {"depends_on": (a_record("x").key,)},
    {"arm_id": ArmId("/subscriptions/1")},
    {"arm_api_version": "2021-01-01"},
    {"count": 1},
    {"condition": FAILED},
    {"condition": None},
)


def test_each_change_of_a_record_is_worth_a_commit(remote, clock, bare):
    same, names = a_record("same"), [f"r{number:02}" for number in range(len(CHANGES))]
    changed = [a_record(name, **changes) for name, changes in zip(names, CHANGES, strict=True)]
    write_status(bare.path, an_update(*map(a_record, names), same))
    with another(remote, clock) as store:
        state = store.load()
        for record in changed:
            assert compute_changes(state, an_update(record, same)).records == {record.key: record}, record
        assert store.save(an_update(*changed, same, revision="b" * 40))
    log = bare.git("log", "-1", "--format=", "--name-only", NAME)
    assert log.split() == [
        *(f"default/resources.azure.com/ResourceGroup/{name}.json" for name in names),
        "inventory.json",
    ]
    records = read_status(bare.path).records
    assert [records[record.key] for record in changed] == changed


def test_an_equal_condition_keeps_its_time(store, bare):
    later = replace(READY, time="2025-01-01T00:00:00Z", request_id="2")
    write_status(bare.path, an_update(a_record("one")))
    store.load()
    store.save(an_update(a_record("one", generation=2, condition=change(later, generation=1))))
    condition = next(iter(read_status(bare.path).records.values())).condition
    assert condition == replace(READY, request_id="2")


def test_texts_that_are_not_given_stay(store, bare):
    write_status(bare.path, an_update(a_record("one")))
    store.load()
    store.save(an_update(a_record("two"), summary=None, report=None))
    assert show(bare, "SUMMARY.md") == "# Summary"
    assert json.loads(show(bare, "report.json")) == {}


def test_what_is_forgotten_is_gone_and_what_is_not_named_stays(store, bare):
    one, two = a_record("one"), a_record("two")
    write_status(bare.path, an_update(one, two))
    store.load()
    assert store.save(an_update(forget=(one.key,)))
    assert not store.save(an_update(forget=(one.key,)))
    assert read_status(bare.path).records == {two.key: two}
    assert "one" not in bare.git("ls-tree", "-r", "--name-only", NAME)


def test_what_others_put_on_the_branch_stays_there(bare, remote, clock):
    write_status(bare.path, an_update(a_record("one")))
    bare.write_commit(NAME, {"README.md": "hands off", "docs/deep/er/still/a.yaml": "hands off"}, parent=NAME)
    with another(remote, clock) as other:
        assert len(other.load().records) == 1
        other.save(an_update(a_record("two")))
    assert show(bare, "README.md") == "hands off"


def test_only_the_last_commit_is_fetched(bare, remote, clock):
    for name in ("one", "two", "three"):
        write_status(bare.path, an_update(a_record(name)))
    with another(remote, clock) as other:
        other.load()
        assert other._clone().repository.line("rev-list", "--all", "--count") == "1"
        assert other.save(an_update(a_record("four")))
    assert len(read_status(bare.path).records) == 4


def test_the_runs_of_the_branch_are_read_from_its_history(bare, remote, clock):
    began = clock.now()
    for number, sent in enumerate(("one", "two", "two")):  # the last commit only expects something
        clock.time = f"2024-05-01T10:0{number + 1}:00Z"
        text = None if number == 2 else REPORT.replace("SENT", sent)
        write_status(bare.path, an_update(a_record(f"r{number}"), report=text), clock.time)
    with another(remote, clock) as reader:
        reader.load()
        runs = reader.read_runs(began, 10)
        commits = bare.git("rev-list", NAME).split()
        assert [(run.commit, run.sent, run.arm_ids) for run in runs] == [
            (commits[1], {"two"}, {"/subscriptions/S"}),
            (commits[2], {"one"}, {"/subscriptions/S"}),
        ]
        assert [run.sent for run in reader.read_runs(clock.now() - timedelta(seconds=70), 10)] == [{"two"}]
        assert [run.sent for run in reader.read_runs(began, 2)] == [{"two"}]


def test_a_branch_that_is_not_there_has_no_runs(store, clock):
    store.load()
    assert store.read_runs(clock.now(), 10) == ()


REPORT = """\
{"command": "sync", "target": {"agent": "a"}, "finished": "2026-01-01T00:00:00Z", "revision": null, "exitCode": 0,
 "outcomes": {}, "resources": [{"apiVersion": "a/v1", "kind": "K", "namespace": "n", "name": "x", "reason": "Succeeded",
 "armId": "/subscriptions/S", "sent": ["SENT"]}]}
"""


def test_a_lost_race_is_merged_key_by_key(remote, clock, bare):
    """Both begin with the same state. What each changed stays; where both changed the same, the later one does."""
    mine, theirs, both, gone = (a_record(name) for name in ("mine", "theirs", "both", "gone"))
    write_status(bare.path, an_update(mine, theirs, both, gone))
    with another(remote, clock) as first, another(remote, clock) as second:
        first.load()
        second.load()
        first.save(
            an_update(
                mine, change(theirs, generation=2), change(both, generation=2), a_record("new1"), forget=(gone.key,)
            )
        )
        assert second.save(
            an_update(change(mine, generation=3), theirs, change(both, generation=3), a_record("new2"), gone)
        )
        after = read_status(bare.path).records
        assert {key.name: record.spec.generation for key, record in after.items()} == {
            "mine": 3,
            "theirs": 2,
            "both": 3,
            "new1": 1,
            "new2": 1,
        }
        assert "new1" in show(bare, "inventory.json")
        assert second.save(an_update(change(both, generation=4))), "and it goes on from there"
    assert commits(bare) == 4


def test_a_race_for_the_first_commit_is_merged(remote, clock, bare):
    with another(remote, clock) as first, another(remote, clock) as second:
        first.load()
        second.load()
        first.save(an_update(a_record("one")))
        second.save(an_update(a_record("two")))
    assert [key.name for key in read_status(bare.path).records] == ["one", "two"]
    assert commits(bare) == 2


def test_writers_at_the_same_moment_all_land(remote, clock, bare):
    names = [f"writer{number}" for number in range(4)]
    ready = threading.Barrier(len(names))
    failed = []

    def write(name):
        with StatusBranch(remote, NAME, clock=clock, patience=0.2) as store:
            store.load()
            ready.wait(30)
            try:
                store.save(an_update(a_record(name)))
            except PublishError as error:
                failed.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [key.name for key in read_status(bare.path).records] == names
    assert commits(bare) == len(names)


def test_a_push_whose_answer_was_lost_is_not_repeated(remote, clock, bare, tmp_path: Path, monkeypatch):
    """git is made to fail after each push that went through."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").write_text('#!/bin/sh\nPATH=${PATH#*:}\ngit "$@" || exit\ncase "$1" in push) exit 128;; esac\n')
    (folder / "git").chmod(0o755)
    with another(remote, clock) as store:
        store.load()
        monkeypatch.setenv("PATH", str(folder), prepend=":")
        assert store.save(an_update(a_record("one")))
        assert not store.save(an_update(a_record("one")))
    assert commits(bare) == 1


APPEARS = """\
#!/bin/sh
PATH=${PATH#*:}
git "$@"
code=$?
# No fetch has found the branch yet, and it appears before anything else is asked.
case "$1" in fetch)
    [ $code -ne 0 ] && git --git-dir="$BARE" update-ref refs/heads/gitsync/status "$TIP";;
esac
exit $code
"""


def test_a_branch_that_appears_while_it_is_fetched_is_fetched_again(remote, clock, bare, tmp_path: Path, monkeypatch):
    tip = write_status(bare.path, an_update(a_record("one")))
    (bare.path / "refs/heads" / NAME).unlink()
    folder = tmp_path / "bin"
    folder.mkdir()
    text = APPEARS.replace("$BARE", str(bare.path)).replace("$TIP", tip)
    (folder / "git").write_text(text)
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    with another(remote, clock) as store:
        assert [key.name for key in store.load().records] == ["one"]
        assert store.save(an_update(a_record("two"))), "and is written to"
    assert commits(bare) == 2


def test_a_branch_that_cannot_be_fetched_is_an_error_after_some_tries(remote, clock, bare, tmp_path: Path, monkeypatch):
    write_status(bare.path, an_update(a_record("one")))
    folder = tmp_path / "bin"
    folder.mkdir()
    tried = tmp_path / "tried"
    (folder / "git").write_text(
        f'#!/bin/sh\nPATH=${{PATH#*:}}\ncase "$1" in fetch) echo >> {tried}; echo broken >&2; exit 128;; esac\ngit "$@"\n'
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    with another(remote, clock) as store, pytest.raises(StateError, match="broken"):
        store.load()
    assert 1 < len(tried.read_text().splitlines()) < 10


def test_a_remote_that_takes_nothing_is_reported_after_some_tries(store, bare, remote, clock):
    store.load()
    hook = bare.put("hooks/pre-receive", "#!/bin/sh\necho 'The \x1b[31mbranch is closed' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PublishError, match="The branch is closed") as refused:
        store.save(an_update(a_record("one")))
    assert "\x1b" not in str(refused.value)
    assert "gitsync/status" in str(refused.value)
    hook.unlink()
    assert store.save(an_update(a_record("one"))), "and nothing is lost by it"


OTHER_PUSH = """\
read -r now 2>/dev/null < "$REF"
case "$now" in "$ONE") echo "$TWO" ;; *) echo "$ONE" ;; esac > "$REF"
"""
"""Another run has pushed one of two commits. The file of the branch is written without git, for there are many races."""
RACES = {
    "another push lands before the push": 'case "$1" in push)\n{}esac\n',
    "another push lands while the hook pre-receive runs": "pre-receive",
    "another push lands while the hook update runs": "update",
}


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("race", RACES.values(), ids=RACES)
def test_a_run_that_loses_every_race_lacks_no_right(remote, clock, bare, tmp_path: Path, monkeypatch, race, is_new):
    bare.write_commits([("one", {}, "One"), ("two", {}, "Two")])
    others = {name.upper(): (bare.path / "refs/heads" / name).read_text().strip() for name in ("one", "two")}
    branch = bare.path / "refs/heads" / NAME
    branch.parent.mkdir()
    if not is_new:
        write_status(bare.path, an_update(a_record("one")))
    push = "".join(f"{name}={text}\n" for name, text in {**others, "REF": branch}.items()) + OTHER_PUSH
    with another(remote, clock) as store:
        store.load()
        if "{}" in race:
            folder = tmp_path / "bin"
            folder.mkdir()
            (folder / "git").write_text(f'#!/bin/sh\nPATH=${{PATH#*:}}\n{race.format(push)}exec git "$@"\n')
            (folder / "git").chmod(0o755)
            monkeypatch.setenv("PATH", str(folder), prepend=":")
        else:
            bare.put(f"hooks/{race}", f"#!/bin/sh\n{push}").chmod(0o755)
        with pytest.raises(PublishError) as refused:
            store.save(an_update(a_record("two")))
    assert refused.value.hint == "Run this again: another run has pushed to the branch in the meantime."


def test_a_check_changes_nothing(store, bare, remote, clock):
    store.load()
    store.check_writable()
    assert list_branches(bare.path) == {}
    store.save(an_update(a_record("one")))
    before = list_branches(bare.path)
    store.check_writable()
    assert list_branches(bare.path) == before
    assert store.save(an_update(a_record("two")))


def test_a_run_that_changes_nothing_starts_few_programs(bare, remote, clock, commands):
    write_status(bare.path, an_update(a_record("one")))
    commands()
    with another(remote, clock) as again:
        again.load()
        again.check_writable()
    assert [command for command in commands() if "pack" not in command] == ["fetch", "ls-tree", "cat-file", "push"]


def test_a_check_finds_a_remote_that_went_away(store, bare, tmp_path: Path):
    store.load()
    bare.path.rename(tmp_path / "moved.git")
    with pytest.raises(PublishError, match="cannot be pushed to branch gitsync/status of file://"):
        store.check_writable()


def test_a_remote_that_cannot_be_reached_is_not_an_empty_state(clock, tmp_path: Path):
    remote = open_remote(Url(f"file://{tmp_path}/nowhere.git", "file"), GitAccess())
    with another(remote, clock) as store, pytest.raises(StateError, match="cannot be read"):
        store.load()


def test_a_branch_with_other_files_is_not_taken_for_status(cloned, remote, clock):
    with (
        StatusBranch(remote, "main", clock=clock) as store,
        pytest.raises(StateError, match=r"has files but no inventory\.json"),
    ):
        store.load()


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("inventory.json", '{"schema": 3}\n', "newer gitsync"),
        ("inventory.json", '{"resources": []}\n', "schema is missing"),
        ("default/g.azure.com/Kind/a.json", '{"a": 1}\n', r"default/g\.azure\.com/Kind/a\.json:1: gitsync is missing"),
        ("default/resources.azure.com/ResourceGroup/one.json", "", "not JSON"),
        ("default/resources.azure.com/ResourceGroup/one.json", "[1]\n", "not a single object"),
        ("inventory.json", '{"schema": 2}\n', r"one\.json exists, but inventory\.json does not name"),
        (
            "inventory.json",
            '{"schema": 2, "resources": [\n\n{"armId": "/x"}]}\n',
            r"inventory\.json:3: resources\[0\]\.key is missing",
        ),
    ],
)
def test_a_status_that_was_tampered_with_is_refused(bare, path, text, message):
    write_status(bare.path, an_update(a_record("one")))
    bare.write_commit(NAME, {path: text}, parent=NAME)
    with pytest.raises(StateError, match=message):
        read_status(bare.path)


def test_a_branch_that_was_tampered_with_is_neither_read_nor_written_to(store, bare, remote, clock):
    message = "newer gitsync"
    write_status(bare.path, an_update(a_record("one")))
    store.load()
    bare.write_commit(NAME, {"inventory.json": '{"schema": 3}\n'}, parent=NAME)
    with another(remote, clock) as other, pytest.raises(StateError, match=message):
        other.load()
    with pytest.raises(PublishError, match=message):
        store.save(an_update(a_record("two")))


def test_a_link_on_the_branch_is_refused(bare, cloned, remote, clock):
    write_status(bare.path, an_update(a_record("one")))
    cloned.git("fetch", "--quiet", "origin", NAME)
    cloned.git("checkout", "--quiet", "--detach", "FETCH_HEAD")
    (cloned.path / "default/resources.azure.com/ResourceGroup/two.json").symlink_to("/etc/passwd")
    cloned.commit()
    cloned.git("push", "--quiet", "origin", f"HEAD:{NAME}")
    with another(remote, clock) as other, pytest.raises(StateError, match="symbolic link"):
        other.load()


def test_nothing_stays_in_the_temporary_folder(remote, clock, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "home"))
    with another(remote, clock) as store:
        store.load()
        assert list((tmp_path / "home").glob("gitsync-*"))
    assert not list((tmp_path / "home").glob("gitsync-*"))


def test_the_same_run_makes_the_same_commit(remote, clock, bare):
    ids = []
    for branch in ("one", "two"):
        with StatusBranch(remote, branch, clock=clock) as store:
            store.load()
            store.save(an_update(a_record("b"), a_record("a")))
        ids.append(bare.git("rev-parse", branch))
    ids.append(write_status(bare.path, an_update(a_record("a"), a_record("b"))))
    assert len(set(ids)) == 1
