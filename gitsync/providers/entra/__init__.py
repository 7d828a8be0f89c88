"""Entra ID objects, which Microsoft Graph has: the provider of their desired state.

`directory.py` reads and writes one object of any kind, and `graph_requests.py` has the requests with what their
refusals mean. What differs from kind to kind is a row in `directory_kinds.py`, and the module of its row shows an
object of Graph in the words of a manifest.
"""
