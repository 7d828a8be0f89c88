"""Imports of what a Terraform or OpenTofu state names: its resources as ARM ids, and what it can forget then."""
