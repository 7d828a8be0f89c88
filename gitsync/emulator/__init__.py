"""An emulated Azure Resource Manager: a real HTTP server with Azure's behaviour, independent of the rest of gitsync.

It shares no conversion with the client, since the two would then share the mistakes of that conversion.
"""
