"""Distinguishes gitsync's writes in Azure's activity log from those of others."""
