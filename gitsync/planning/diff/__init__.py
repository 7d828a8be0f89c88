"""Where git, the last write and Azure differ, and by which rule."""
