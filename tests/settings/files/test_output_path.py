"""Where an output leads: no link that a repository could have brought is followed, and those of the operator are."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import UnsafePathError
from gitsync.settings.files.output_path import choose_output_path, open_below, open_folder


@pytest.fixture
def location(tmp_path):
    """A checkout with links of all sorts, a folder elsewhere, and links of the operator beside."""
    for folder in ("elsewhere/deep", "checkout/.git", "checkout/sub/inner", "plain/sub", "bare/objects", "bare/refs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bare/HEAD").touch()
    links = {
        "checkout/out": "../elsewhere",
        "checkout/absolute": tmp_path / "elsewhere",
        "checkout/inside": "sub",
        "checkout/dangling": "../absent",
        "checkout/loop": "loop",
        "checkout/sub/up": "../../elsewhere",
        "checkout/file": "../elsewhere/file",
        "bare/out": "../elsewhere",
        "plain/out": "../elsewhere",
        "to-elsewhere": "elsewhere",
        "to-checkout": "checkout",
        "to-link": "checkout/out",
        "to-link-and-more": "checkout/out/deep",
        "to-to-elsewhere": "to-elsewhere",
        "round": "round",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


REFUSED = [
    ("checkout/out", "checkout/out", "the last step"),
    ("checkout/out/report", "checkout/out", "a step on the way"),
    ("checkout/absolute/x", "checkout/absolute", "an absolute target"),
    ("checkout/inside/x", "checkout/inside", "a target inside: the next commit moves it"),
    ("checkout/dangling/x", "checkout/dangling", "a target that does not exist yet"),
    ("checkout/loop/x", "checkout/loop", "a loop"),
    ("checkout/sub/up/x", "checkout/sub/up", "deep in the checkout"),
    ("checkout/file", "checkout/file", "a link to a file"),
    ("checkout/sub/../out/x", "checkout/sub/../out", "`..` on the way"),
    ("plain/../checkout/out/x", "plain/../checkout/out", "`..` into the checkout"),
    ("to-checkout/out/x", "to-checkout/out", "the operator's link into the checkout"),
    ("to-link/x", "to-link", "the operator's link to a link of the checkout"),
    ("to-link-and-more/x", "to-link-and-more", "the operator's link through a link of the checkout"),
    ("bare/out/x", "bare/out", "a folder that looks like a repository"),
    ("plain/out/x", "plain/out", "SOURCE without git"),
    ("round/x", "round", "a loop of the operator's links"),
]

ALLOWED = [
    ("checkout/sub/x", "checkout/sub/x", "no link"),
    ("checkout/new/x", "checkout/new/x", "missing folders"),
    ("to-elsewhere/x", "elsewhere/x", "the operator's link"),
    ("to-to-elsewhere/x", "elsewhere/x", "a chain of them"),
    ("to-checkout/sub/x", "checkout/sub/x", "into the checkout"),
    ("to-elsewhere/../plain/x", "plain/x", "`..` after a link leads above its target"),
    ("checkout/sub/../../to-elsewhere/x", "elsewhere/x", "`..` out of the checkout"),
]


@pytest.mark.parametrize(("path", "named", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_link_that_a_repository_could_have_brought_is_refused(location, path, named, why):
    with pytest.raises(UnsafePathError) as refused:
        choose_output_path(location / path, str(location / "plain"))
    assert refused.value.message.startswith(f"{location / named} "), why


@pytest.mark.parametrize(("path", "target", "why"), ALLOWED, ids=[row[-1] for row in ALLOWED])
def test_the_links_of_the_operator_are_followed(location, path, target, why):
    found = choose_output_path(location / path, str(location / "plain"))
    assert found.path == location / target, why


@pytest.mark.parametrize("folder", ["checkout", "checkout/sub"])
def test_a_relative_path_is_one_of_the_working_folder(location, monkeypatch, folder):
    monkeypatch.chdir(location / folder)
    way = "../" * (folder.count("/"))
    with pytest.raises(UnsafePathError, match="is a link"):
        choose_output_path(location.__class__(f"{way}out/x"))
    assert choose_output_path(location.__class__("new")).path == location / folder / "new"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_link_of_another_user_is_not_followed(location):
    os.lchown(location / "to-elsewhere", 12345, -1)
    with pytest.raises(UnsafePathError, match="to-elsewhere is a link of the user 12345"):
        choose_output_path(location / "to-elsewhere" / "x")
    os.chown(location, 12345, -1)
    assert choose_output_path(location / "to-elsewhere" / "x").path == location / "elsewhere/x", (
        "the owner of the folder"
    )


def test_a_link_that_comes_after_the_look_is_not_followed(location):
    found = choose_output_path(location / "checkout/sub/inner")
    (location / "checkout/sub/inner").rmdir()
    (location / "checkout/sub/inner").symlink_to(location / "elsewhere")
    with pytest.raises(OSError, match="inner"), open_folder(found, makes=0o777):
        pass
    assert [path.name for path in (location / "elsewhere").iterdir()] == ["deep"]


def find_free_descriptor():
    """The number that the next descriptor gets."""
    os.close(descriptor := os.dup(0))
    return descriptor


def test_what_is_below_an_open_folder_stays_there(location):
    """Whatever its path leads to by now; and below it no link is followed either."""
    made, free = [], find_free_descriptor()
    inner = location / "checkout/sub/inner"
    with open_folder(choose_output_path(inner)) as folder:
        inner.rename(location / "checkout/moved")
        inner.symlink_to(location / "elsewhere")
        with open_below(folder, ["a", "b"], inner, makes=0o777, made=made):
            pass
        with open_below(folder, ["a", "b"], inner, makes=0o777, made=made):
            pass
        (location / "checkout/moved/a/link").symlink_to(location / "elsewhere")
        with (
            pytest.raises(OSError, match="a/link") as refused,
            open_below(folder, ["a", "link", "c"], inner, makes=0o777),
        ):
            pass
    assert find_free_descriptor() == free, "all are closed"
    assert refused.value.filename == f"{inner}/a/link"
    assert made == [inner / "a", inner / "a/b"], "once"
    assert sorted(path.name for path in (location / "checkout/moved/a").iterdir()) == ["b", "link"]
    assert [path.name for path in (location / "elsewhere").iterdir()] == ["deep"]


def test_what_is_missing_before_the_first_checkout_is_created(location):
    made = []
    found = choose_output_path(location / "x/y/z")
    with pytest.raises(FileNotFoundError), open_folder(found):
        pass
    with open_folder(found, makes=0o777, made=made):
        pass
    assert made == [location / "x", location / "x/y", location / "x/y/z"]


STEPS = st.lists(
    st.sampled_from(
        ["checkout", "sub", "inner", "out", "up", "inside", "plain", "..", "to-checkout", "to-link", "new"]
    ),
    max_size=7,
)


@given(STEPS)
def test_whatever_the_path_no_link_below_a_checkout_is_passed(tmp_path_factory, steps):
    """A law: what is found is either refused, or the kernel comes to the same place without a link of the checkout."""
    top = tmp_path_factory.mktemp("law")
    (top / "checkout/.git").mkdir(parents=True)
    (top / "checkout/sub/inner").mkdir(parents=True)
    (top / "elsewhere").mkdir()
    (top / "plain").mkdir()
    for name, target in {"out": "../elsewhere", "inside": "sub", "sub/up": "../../elsewhere"}.items():
        (top / "checkout" / name).symlink_to(target)
    (top / "to-checkout").symlink_to("checkout")
    (top / "to-link").symlink_to("checkout/out")
    path = top.joinpath(*steps)
    try:
        found = choose_output_path(path).path
    except UnsafePathError:
        return
    assert found == top.__class__(os.path.realpath(found)), "no link is left"
    if path.exists():
        assert found == path.resolve()
    assert not found.is_relative_to(top / "elsewhere"), "only links of the checkout lead there"
