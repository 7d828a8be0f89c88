"""SOURCE: the manifests of one revision of a repository or folder."""
