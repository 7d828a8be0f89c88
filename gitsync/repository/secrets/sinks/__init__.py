"""Sinks on this machine: files, pipeline outputs, the status."""
