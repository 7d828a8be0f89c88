"""Finds what exists in Azure and git does not have: by ARM's lists or by Resource Graph."""
