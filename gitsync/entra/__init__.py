"""Groups of Entra ID, which Microsoft Graph has: the provider of their desired state.

`groups.py` reads and writes one group, `bodies.py` says what a group of Graph is in the words of a manifest, and
`requests.py` has the requests with what their refusals mean.
"""
