"""From what Azure or a cluster shows to the files of manifests: pure, without a request."""
