"""What `gitsync doctor` checks before a first run: one module for each part of the set-up."""
