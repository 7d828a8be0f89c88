"""Configurations for other tools, made of manifests: the way back from gitsync."""
