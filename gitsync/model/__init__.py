"""Nouns: frozen values that the other layers pass to each other. No I/O, no decisions."""
