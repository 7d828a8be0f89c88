"""Globs of Argo CD: of files in a directory, of folders, and hostile ones."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gitsync.repository.units.unit_files import compile_glob

MATCHES: Mapping[str, tuple[str, str, bool, bool]] = {
    "a star in a directory matches in folders too, as Argo CD has no separator there": (
        "*.yaml",
        "a/b.yaml",
        True,
        True,
    ),
    "a star in the path of a folder ends at a slash": ("teams/*", "teams/a/b", False, False),
    "one folder": ("teams/*", "teams/a", False, True),
    "alternatives": ("{a,b-*}.yaml", "b-1.yaml", True, True),
    "alternatives in alternatives": ("{a,{b,c}d}.yaml", "cd.yaml", True, True),
    "a comma outside of braces is a comma": ("a,b", "a,b", True, True),
    "one character": ("team-?", "team-12", True, False),
    "a set": ("team-[a-c]", "team-b", True, True),
    "a negated set": ("team-[!a-c]", "team-b", True, False),
    "a dot is a dot": ("a.yaml", "axyaml", True, False),
    "an escaped star": (r"a\*", "ab", True, False),
    "the whole path counts": ("a", "ab", True, False),
    "beyond ASCII": ("gäste-*", "gäste-ö", True, True),
}


@pytest.mark.parametrize(("glob", "path", "crosses", "is_match"), MATCHES.values(), ids=MATCHES)
def test_a_glob_matches_as_in_argo_cd(glob: str, path: str, crosses: bool, is_match: bool) -> None:
    assert compile_glob(glob, crosses_folders=crosses, has_braces=True)(path) is is_match


@pytest.mark.parametrize("glob", ["{a", "a}", "{a}}", "[a", "a\\", "[z-a]", "x" * 1001, "{" * 900 + "}" * 900])
def test_what_is_not_a_glob_is_refused(glob: str) -> None:
    with pytest.raises(ValueError):
        compile_glob(glob, crosses_folders=True, has_braces=True)


def test_braces_are_texts_where_argo_cd_does_not_expand_them() -> None:
    assert compile_glob("{a}", crosses_folders=False)("{a}")


def test_many_stars_take_linear_time() -> None:
    assert not compile_glob("*a" * 400 + "b", crosses_folders=True)("a" * 100_000)
