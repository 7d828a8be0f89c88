"""Imports of what templates have made: the resources of a deployment stack, or of a deployment."""
