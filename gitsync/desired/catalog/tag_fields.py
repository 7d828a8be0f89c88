"""Where a manifest has the tags of its resource, for the kinds that can have tags."""

from __future__ import annotations

from functools import cache
from typing import Final

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.problems.field_path import FieldPath
from gitsync.model.facts import Kind

DEFAULT_TAGS: Final = "gitsync/tags"
"""The annotation of a Namespace with default tags."""


@cache
def find_tags_field(kind: Kind) -> FieldPath | None:
    """Find the field of the tags; None if resources of the kind cannot have tags, or that is not known.

    A field such as the tags of an agent pool's machines, which ARM has elsewhere in the body, does not count.
    """
    if kind.is_any_type:
        body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
        # Azure refuses a create with an unknown member, so a type without facts gets no default tags.
        facts = find_facts(body_type, (TAGS,)) if body_type else None
        return ("spec", "body", TAGS) if facts and not facts.is_read_only else None
    field = kind.types[kind.spec]["fields"].get(TAGS)
    return ("spec", TAGS) if field and field.get("arm") == TAGS else None
