"""Decisions: pure functions over the nouns. No I/O, no clock, no randomness."""
