"""Commands around a run: a run never needs one of them."""
