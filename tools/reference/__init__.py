"""The pages that tools/build_reference.py writes."""
