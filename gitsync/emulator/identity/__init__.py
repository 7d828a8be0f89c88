"""Who calls the emulator, and what the caller may do."""
