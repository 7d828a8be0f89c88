"""What single kinds do besides: a table of registrations, one module an ASO group.

`points` has the protocols that an extension implements and the results that it answers with; `registry` joins the
built-in tables with those of other packages (entry points `gitsync.extensions`). A check decides; the driver acts.
"""
