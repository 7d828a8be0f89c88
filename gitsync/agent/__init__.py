"""One run, and each resource in it.

The only wing that joins decisions with requests: what `planning` decides, `providers` and `repository` carry out.
"""
