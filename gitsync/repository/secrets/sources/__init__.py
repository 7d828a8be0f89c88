"""Sources on this machine: manifests, a folder, the environment."""
