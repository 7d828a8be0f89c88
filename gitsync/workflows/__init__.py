"""What is done around a run: import, rehearse, accept.

Audits, `doctor` and the search for unmanaged resources are here too. A workflow may use a run; a run never needs a
workflow.
"""
