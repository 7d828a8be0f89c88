"""How a long text is shortened where what is wrong with it may be at its end."""


def cut_middle(text: str, most: int) -> str:
    """Shorten a text to `most` characters, with an ellipsis in its middle: both ends stay."""
    tail = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - tail]}…{text[-tail:]}"
