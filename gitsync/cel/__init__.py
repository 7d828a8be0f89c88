"""Expressions of exports: read, checked against what a kind's status may say, and evaluated (spec: semantics §7.4)."""
