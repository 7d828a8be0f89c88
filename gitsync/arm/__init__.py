"""The edge to Azure Resource Manager: the only code that speaks to Azure.

Reading order: client (what a node may ask), retrier (one request with its tries), throttle and lanes (when it may go),
reply, poll and operations (what was begun, to its end), registration, failures (what Azure refused), transport (the SDK),
credentials (which identity).
"""
