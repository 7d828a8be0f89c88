"""Renders a report as one self-contained HTML file, opened from a disk or a pipeline's artefacts. It loads nothing."""
