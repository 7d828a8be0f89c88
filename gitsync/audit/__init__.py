"""Tells the writes of gitsync in Azure's activity log from those of others."""
