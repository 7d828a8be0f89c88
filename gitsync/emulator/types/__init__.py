"""The behaviour of single Azure resource types."""
