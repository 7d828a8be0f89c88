"""The emulator's record of changes: Resource Graph's table of changes, and the Activity Log."""
