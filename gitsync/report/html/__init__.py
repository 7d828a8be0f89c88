"""A report as one HTML file, to be opened from a disk or a pipeline's artefacts: it asks nothing of any server."""
