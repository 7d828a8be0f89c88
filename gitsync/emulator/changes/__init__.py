"""What the emulated Azure remembers of changes: Resource Graph's table of changes, and the Activity Log."""
