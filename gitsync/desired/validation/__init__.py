"""Every problem of a set of manifests that can be found offline."""
