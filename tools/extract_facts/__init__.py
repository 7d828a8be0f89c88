"""Facts about ASO's kinds, from the Go source that ASO's generator writes: tools/make_catalog.py packs them.

Nothing is guessed: a form of the source that these modules do not support is a NotSupportedError with its file and
line.
"""
