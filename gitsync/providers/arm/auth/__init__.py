"""Tokens for Azure: which credential a run uses, and how each kind signs in."""
