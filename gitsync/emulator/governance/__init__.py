"""Governance in addition to roles: management locks, deny assignments, and policies with their exemptions."""
