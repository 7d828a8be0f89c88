"""What git declares: manifests, kinds, ARM requests.

Pure: bytes of a repository come in, and manifests, problems and requests go out. Nothing here depends on a run.
"""
