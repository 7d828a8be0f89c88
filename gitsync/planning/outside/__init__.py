"""Finds what changed in Azure outside of the fields that git sets, and what a write would reset."""
