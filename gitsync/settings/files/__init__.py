"""Where gitsync writes: paths whose links are checked, and folders whose content may come from anyone."""
