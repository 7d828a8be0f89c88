"""`ignore` and `tags` in gitsync.yaml: their entries with lines, and an error for another form."""

import pytest

from gitsync.errors import ConfigError
from gitsync.model.problem import SourceLocation
from gitsync.model.written_rules import RuleEntry
from gitsync.settings.config.config_file import SourceFile, join_source_settings, read_config_file
from gitsync.settings.config.load import make_config

TEXT = """\
ignore:
- spec.tags.team
- tags: [hidden-*, 7]
  kind: StorageAccount
  until: 2030-12-31
tags:
  team: web
  cost: 0042
"""


def join(text, **settings):
    return join_source_settings(make_config(settings), SourceFile(path="here: gitsync.yaml", content=text.encode()))


def at(line, path="gitsync.yaml"):
    return SourceLocation(path, line)


def test_entries_have_the_line_of_the_file():
    settings = join(TEXT)
    assert settings.ignore == (
        RuleEntry("spec.tags.team", at(2)),
        RuleEntry({"tags": ["hidden-*", 7], "kind": "StorageAccount", "until": "2030-12-31"}, at(3)),
    )
    assert settings.tags == (RuleEntry(("team", "web"), at(7)), RuleEntry(("cost", "0042"), at(8)))


def test_nothing_is_none():
    for text in ("", "ignore:\ntags:\n", "ignore: []\ntags: {}\n"):
        settings = join(text)
        assert (settings.ignore, settings.tags) == ((), ()), text


def test_those_of_the_operator_replace_those_of_the_source(tmp_path):
    own = {"team": "ops"}
    settings = join(TEXT, tags=own, ignore=["spec.tags.a"])
    assert [entry.value for entry in settings.tags] == [("team", "ops")]
    assert [entry.value for entry in settings.ignore] == ["spec.tags.a"]
    path = tmp_path / "ops.yaml"
    path.write_text(TEXT)
    (entries, _) = read_config_file(path)["tags"]
    assert entries[0].source == at(7, str(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ignore: a\n", "here: gitsync.yaml:1: ignore: expected a list of paths, or of mappings with path or tags."),
        ("ignore:\n- [a]\n", "here: gitsync.yaml:2: ignore[0]: expected a text."),
        ("ignore:\n- path: {a: b}\n", "here: gitsync.yaml:2: ignore[0].path: expected a text."),
        ("ignore:\n- path: [[a]]\n", "here: gitsync.yaml:2: ignore[0].path[0]: expected a text."),
        ("ignore:\n- {path: a, path: b}\n", "ignore[0].path: is given twice. Remove one of them."),
        ("tags: [a]\n", "here: gitsync.yaml:1: tags: expected a mapping of names of tags to values."),
        ("tags: {a: [b]}\n", "here: gitsync.yaml:1: tags.a: expected a text."),
        ("tags: {a: }\n", "here: gitsync.yaml:1: tags.a: expected a text."),
        (f"ignore: [{'a, ' * 1001}]\n", "expected at most 1000 entries."),
        (f"ignore: [{{{', '.join(f'k{n}: a' for n in range(21))}}}]\n", "expected at most 20 entries."),
    ],
)
def test_another_form_is_an_error_with_its_line(text, said):
    with pytest.raises(ConfigError) as found:
        join(text)
    assert said in found.value.message


def test_aliases_make_nothing_large():
    bomb = "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{'a' if n == 0 else f'b{n - 1}'}]\n" for n in range(3))
    with pytest.raises(ConfigError):
        join(f"ignore:\n- path: &p [{'x, ' * 900}]\n" + "- path: [*p, *p]\n" + bomb)


@pytest.mark.parametrize("settings", [{"tags": ["a"]}, {"ignore": "a"}, {"ignore": {"a": "b"}}])
def test_a_program_gives_them_as_a_file_has_them(settings):
    with pytest.raises(ConfigError):
        make_config(settings)
