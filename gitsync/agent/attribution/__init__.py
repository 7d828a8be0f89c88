"""Finds out who changed a resource in Azure: from the change tables of Resource Graph, then from the activity log."""
