"""What some kinds of resources need in addition.

A table of registrations, mostly one module for each ASO group. Other packages add rows of their own, so the import path
is public. `api` has the protocols that an extension implements and the results that it returns; `registry` joins the
built-in tables with those of other packages (entry points `gitsync.extensions`). A check decides; the stages of a
resource act.
"""
