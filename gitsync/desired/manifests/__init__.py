"""From bytes to manifests: YAML as Kubernetes reads it, metadata, and which documents are resources."""
