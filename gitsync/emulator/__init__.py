"""An emulated Azure, with faults.

An HTTP server with Azure's behaviour. It shares no conversion with the client, since a mistake would then be on both
sides.
"""
