"""Azure, Entra ID and databases.

Each by its own protocol. They use neither git nor manifests: a request that is ready to send comes in, and the response
goes out.
"""
