"""git: sources, and the state kept on a branch or in a folder."""
