"""Imports of what exists in Azure: from a resource as Azure shows it to a manifest in a repository."""
