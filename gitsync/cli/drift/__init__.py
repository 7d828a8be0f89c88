"""The commands by which people decide about changes in Azure: keep them in git, undo them, or record them."""
