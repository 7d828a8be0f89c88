"""Expressions of exports: compiled with their destinations, and evaluated once the resource exists
(docs/reference/reconciliation.md#export-expressions).
"""
