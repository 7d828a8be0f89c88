"""The stages of one resource, one module each. `gitsync.agent.reconcile.reconcile` has their order."""
