"""The state of the emulator, and what changes it apart from requests."""
