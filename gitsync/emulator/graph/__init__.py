"""Microsoft Graph for groups, applications and service principals, eventually consistent.

`directory.py` has the verbs, and `directory_collections.py` a row for what differs from one kind of objects to the
next.
"""
