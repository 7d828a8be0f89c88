"""What an editor needs: JSON Schemas of manifests and settings, example manifests, and the files of a workspace."""
