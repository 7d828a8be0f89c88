"""The edge to Azure Resource Manager: the only code that speaks to Azure.

Reading order: client (what a node may ask), session (its deadline and its tries), http/retries
(one request, until it is answered), http/throttle (when a request may go), lro (what a write
began, to its end), registration, http/failures (what Azure refused), http/transport (the SDK),
auth (which identity).
"""
