"""An Azure Resource Manager of its own: a real HTTP server that knows how Azure answers, and
nothing else of gitsync.

It shares no conversion with the client, since a client and a server with one conversion would
share its mistakes.
"""
