"""Manifests of what exists already, in a cluster that runs ASO or in Azure."""
