"""State between runs: records on the status branch or in a folder."""
