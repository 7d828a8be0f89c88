"""The callers of the emulator, and their permissions."""
