"""Renders reports for people and machines. Nothing here decides anything."""
