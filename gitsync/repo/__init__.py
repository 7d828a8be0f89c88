"""The git edge: manifests come out of a repository or a folder, and state goes into one.

In reading order: `location` (what SOURCE may be), `access` and `repository` (how git is run), `clone`, `revision` and
`worktree` (where files lie), `selection`, `ignore` and `contents` (which of them are manifests), `checkout` (all of
it); then `codec` and `status_tree` (state as files), `branch`, `folder` and `stores` (where they are kept).
"""
