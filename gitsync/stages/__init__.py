"""The stages of one node's turn, by what they are about. `gitsync.reconcile.reconcile` has their order."""
