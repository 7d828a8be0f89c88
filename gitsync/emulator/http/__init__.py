"""The emulator as a server: requests, routes, responses, paging and throttling."""
