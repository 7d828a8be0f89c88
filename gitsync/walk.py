"""THE RUN, in order."""
