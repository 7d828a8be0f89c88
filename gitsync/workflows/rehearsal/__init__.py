"""Simulates a sync in the emulator before it runs: one revision of git, applied to the estate of the records."""
