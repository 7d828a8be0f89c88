"""The state of the emulator, and its changes other than by requests."""
