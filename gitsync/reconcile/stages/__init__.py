"""The stages of one resource, one module each. `gitsync.reconcile.reconcile` has their order."""
