"""A varied estate: about forty-seven resources a group, of all sorts that Azure gives back otherwise than it got them."""

from __future__ import annotations

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


def estate(*resources: int) -> dict[str, str]:
    """So many resources of each group, the first of `estate.yaml`, as files by name; the values that they need are in
    `beside`.

    Owners and whatever is referred to come first, so that any number of resources is complete.
    """
    groups = {f"g{number:02}": _documents(number)[:size] for number, size in enumerate(resources, 1)}
    return {"beside": BESIDE, **{group: "---\n".join(documents) for group, documents in groups.items()}}


def _documents(number: int) -> list[str]:
    return GROUP.substitute(n=f"{number:02}", octet=number).split("---\n")
