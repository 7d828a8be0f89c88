"""Data files give back what was written, whatever the texts are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.secret import Secret
from gitsync.report.site.data_files import decode_data, encode_data, name_data_file

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(
    ["</script>", "\u2028", "__proto__", ");\n", "\\", '"', "<!--", "a" * 10_000]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | TEXTS,
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_a_data_file_gives_back_its_value_and_is_one_line_of_ascii(value):
    content = encode_data("tree", value)
    assert decode_data("tree", content) == value
    assert content.isascii()
    assert content.count(b"\n") == 1


BAD = (
    (b"", "nothing"),
    (b'gitsyncData("site",{});\n', "another file"),
    (b'gitsyncData("tree",{})', "cut"),
    (b'gitsyncData("tree",{});alert(1);\n', "a second statement"),
    (b'gitsyncData("tree",NaN);\n', "no JSON"),
)


@pytest.mark.parametrize(("content", "why"), BAD)
def test_anything_else_is_refused(content, why):
    with pytest.raises(ValueError, match=r"."):
        decode_data("tree", content)
    assert why


@pytest.mark.parametrize("name", ["", "../tree", "/tree", "a//b", "A", "a.b", "a/"])
def test_a_name_has_no_other_path(name):
    with pytest.raises(ValueError, match="not the name of a data file"):
        name_data_file(name)


def test_a_secret_is_not_written():
    with pytest.raises(TypeError):
        encode_data("tree", {"password": Secret("hunter2")})
