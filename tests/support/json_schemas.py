"""The published schemas of docs/schemas, without leave for members that they do not name: what we write, they describe."""

import json
from functools import cache
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in FOLDER.glob("*.schema.json"))


def read_schema(name):
    return json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))


def close(schema):
    """The schema with no members but those that it names."""
    if isinstance(schema, list):
        return [close(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: close(member) for name, member in schema.items()}
    return {"additionalProperties": False, **inner} if isinstance(schema.get("properties"), dict) else inner


@cache
def _open_registry():
    schemas = ((f"{name}.schema.json", Resource.from_contents(close(read_schema(name)))) for name in NAMES)
    return Registry().with_resources(schemas)


def list_faults(name, document, part=""):
    """What keeps a document from a schema, or from the part of it at a JSON pointer such as `#/$defs/record`."""
    reference = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": f"{name}.schema.json{part}"}
    validator = jsonschema.Draft202012Validator(reference, registry=_open_registry())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
