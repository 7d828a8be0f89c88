"""Checks that a data file of the site has the form that `shapes.py` describes: no member too many, none too few."""

from __future__ import annotations

from types import UnionType
from typing import Literal, get_args, get_origin, get_type_hints, is_typeddict

from gitsync.report.site import shapes

FILES = {
    "site": shapes.SiteShape,
    "tree": shapes.TreeShape,
    "edges": shapes.EdgesShape,
    "drift": shapes.DriftsShape,
    "removed": shapes.RemovedShape,
    "coverage": shapes.CoverageShape,
    "audit": shapes.AuditShape,
    "activity": shapes.ActivityShape,
    "resources": dict[str, shapes.ResourceShape],
    "history": dict[str, list[shapes.History]],
}
"""The form of each data file, by the first part of its name."""


def list_deviations(value, shape, path=""):
    """List what of a value has another form, by its path."""
    if shape is object:
        return []
    if is_typeddict(shape):
        return _check_members(value, get_type_hints(shape), path)
    check = _CHECKS.get(get_origin(shape), _check_type)
    return check(value, shape, path)


def _check_members(value, hints, path):
    if not isinstance(value, dict):
        return [f"{path}: {value!r}"]
    unknown = sorted(set(value) ^ set(hints))
    return [f"{path}: {unknown}"] if unknown else _join((value[name], hints[name], f"{path}.{name}") for name in hints)


def _check_list(value, shape, path):
    (part,) = get_args(shape)
    return _join((member, part, f"{path}[{number}]") for number, member in enumerate(value))


def _check_dict(value, shape, path):
    return _join((member, get_args(shape)[1], f"{path}[{name!r}]") for name, member in value.items())


def _check_tuple(value, shape, path):
    parts = get_args(shape)
    if len(value) != len(parts):
        return [f"{path}: {value!r}"]
    return _join(
        (member, part, f"{path}[{number}]") for number, (member, part) in enumerate(zip(value, parts, strict=True))
    )


def _check_union(value, shape, path):
    fits = any(not list_deviations(value, part, path) for part in get_args(shape))
    return [] if fits else [f"{path}: {value!r}"]


def _check_literal(value, shape, path):
    return [] if value in get_args(shape) else [f"{path}: {value!r}"]


def _check_type(value, shape, path):
    return [] if isinstance(value, shape) else [f"{path}: {value!r}"]


def _join(checks):
    return [deviation for check in checks for deviation in list_deviations(*check)]


_CHECKS = {
    list: _check_list,
    dict: _check_dict,
    tuple: _check_tuple,
    UnionType: _check_union,
    Literal: _check_literal,
}
