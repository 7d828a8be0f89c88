"""Posts a report as the comment of a pull request: posted once, and replaced by every later one. One module a host."""
