"""What git declares: manifests, the facts of their kinds, and the requests that they stand for. Pure."""
