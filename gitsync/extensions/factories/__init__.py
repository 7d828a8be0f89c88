"""Factories that make checks, error rules and exporters from table rows."""
