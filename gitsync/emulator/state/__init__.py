"""What the emulator stores, and what changes it besides requests."""
