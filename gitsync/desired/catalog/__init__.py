"""The packed facts of every kind, and look-ups in them."""
