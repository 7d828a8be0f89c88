"""The units of a source: which there are, and the manifests that each is built to."""
