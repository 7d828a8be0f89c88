"""The recorded expressions, where they are available, with what ASO's own evaluator made of them."""

from __future__ import annotations

import json

from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings
from tools import check_expressions

FOLDER = RECORDINGS / "conformance"
pytestmark = needs_recordings(FOLDER / "cel-aso.json")


def test_every_recorded_expression_comes_to_what_aso_reports(capsys):
    exit_code = check_expressions.main([str(FOLDER)])
    said = capsys.readouterr().out
    assert exit_code == 0, said
    assert said.splitlines()[-1].endswith("expressions agree.")


def test_a_difference_is_reported(tmp_path, capsys):
    for name in ("cel-aso.json", "cel.json"):
        recorded = json.loads((FOLDER / name).read_text(encoding="utf-8"))
        recorded["cases"] = recorded["cases"][:3]
        recorded["cases"][0].update(stage="value", value="something else")
        (tmp_path / name).write_text(json.dumps(recorded), encoding="utf-8")
    assert check_expressions.main([str(tmp_path)]) == 1
    assert "4 of 6 expressions agree." in capsys.readouterr().out


def test_recordings_that_are_not_there_are_reported(tmp_path, capsys):
    assert check_expressions.main([str(tmp_path / "none")]) == 2
    assert "The recordings cannot be read" in capsys.readouterr().err
