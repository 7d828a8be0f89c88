"""Desired state, records and secrets.

In git, in kustomizations and Helm charts, in stores of secrets. It does not use Azure Resource Manager.
"""
