"""Expressions of exports: read, checked against what a kind's status may say, and evaluated
(docs/reference/reconciliation.md#export-expressions).
"""
