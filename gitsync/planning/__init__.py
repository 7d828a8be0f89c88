"""What differs, and what is done about it.

Pure: it compares git, the last write and Azure, and decides on applies and deletes. The agent reads and writes.
"""
