"""A varied estate: about forty-seven resources a group, of all sorts that Azure gives back otherwise than it got them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from string import Template

GROUP = Template(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
BESIDE = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: directory
data:
  tenant: 11111111-1111-4111-8111-111111111111
  operators: 22222222-2222-4222-8222-222222222222
---
apiVersion: v1
kind: Secret
metadata:
  name: postgres
stringData:
  password: Not-Really-1
"""


def estate(resources: int) -> dict[str, str]:
    """So many resources as files by name, a file a group; the values that they need are in `beside`.

    Owners and whatever is referred to come first, so that any number of resources is complete.
    """
    files: dict[str, str] = {"beside": BESIDE}
    for group, document in islice(_documents(), resources):
        files[group] = f"{files[group]}---\n{document}" if group in files else document
    return files


def _documents() -> Iterator[tuple[str, str]]:
    for number in count(1):
        text = GROUP.substitute(n=f"{number:02}", octet=number)
        yield from ((f"g{number:02}", document) for document in text.split("---\n"))
