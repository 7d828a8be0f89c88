"""The nouns: frozen values that the wings exchange.

Pure, with little behaviour: what a value means is decided in the wings above.
"""
