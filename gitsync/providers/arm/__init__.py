"""Azure Resource Manager: every request to it is sent here.

Reading order: client (what a node may request), session (its deadline and its attempts), http/retries (one request,
until it is answered), http/throttle (when a request may be sent), lro (the operation of a write, to its end),
registration, http/failures (what Azure refused), http/transport (the SDK), auth (which identity).
"""
