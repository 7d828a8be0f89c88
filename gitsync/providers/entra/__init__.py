"""Entra ID groups, which Microsoft Graph has: the provider of their desired state.

`groups.py` reads and writes one group, `group_conversion.py` shows a Graph group in the words of a
manifest, and `graph_requests.py` has the requests with what their refusals mean.
"""
