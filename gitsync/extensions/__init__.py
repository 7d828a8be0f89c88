"""Additional behaviour of single kinds: a table of registrations, mostly one module for each ASO group.

`api` has the protocols that an extension implements and the results that it returns; `registry` joins the built-in
tables with those of other packages (entry points `gitsync.extensions`). A check decides; the stages of a resource act.
"""
