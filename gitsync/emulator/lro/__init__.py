"""Long-running operations of the emulator."""
