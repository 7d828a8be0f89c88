"""Expressions of exports: parsed, checked against the types of a kind, and evaluated
(docs/reference/reconciliation.md#export-expressions).
"""
