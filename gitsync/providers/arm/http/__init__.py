"""Requests to Azure: the transport, throttling, retries and failures."""
