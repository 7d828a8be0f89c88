"""Long-running operations: how one is followed to its end."""
